internal import NevodSupport

/// The pause that a server has asked for by `Retry-After`. Without it, each request of a program with an expired token would
/// ask the token endpoint again.
final class OAuthPause: Sendable {
    private struct Wait {
        let end: ContinuousClock.Instant
        let error: OAuthError
    }

    private let wait = Locked<Wait?>(nil)

    /// A server that asks for more, by mistake, must not stop a program for a day.
    static let longest: Duration = .seconds(300)

    /// - Throws: the error with which the pause began, while it lasts.
    func check() throws(OAuthError) {
        guard let wait = wait.withLock(\.self), wait.end > .now else { return }
        throw wait.error
    }

    func begin(after error: OAuthError) {
        guard error.isTransient, let pause = error.retryAfter, pause > .zero else { return }
        wait.withLock { $0 = Wait(end: .now + min(pause, Self.longest), error: error) }
    }
}

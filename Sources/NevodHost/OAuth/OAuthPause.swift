internal import NevodSupport

/// The pause that a server has asked for with `Retry-After`. Without this pause, each request of a program with an expired token
/// would ask the token endpoint again.
final class OAuthPause: Sendable {
    private struct Wait {
        let end: ContinuousClock.Instant
        let error: OAuthError
    }

    private let wait = Locked<Wait?>(nil)

    /// The longest pause: a server that asks for more by mistake must not stop a program for a day.
    static let longest: Duration = .seconds(300)

    /// - Throws: the error that began the pause, while the pause lasts.
    func check() throws(OAuthError) {
        guard let wait = wait.withLock(\.self), wait.end > .now else { return }
        throw wait.error
    }

    func begin(after error: OAuthError) {
        guard error.isTransient, let pause = error.retryAfter, pause > .zero else { return }
        wait.withLock { $0 = Wait(end: .now + min(pause, Self.longest), error: error) }
    }
}

extension OAuthClient {
    /// Runs a request, unless the server has asked to wait. For requests that a program sends by itself, and would otherwise
    /// repeat at once.
    func unlessAskedToWait(
        _ request: () async throws(OAuthError) -> OAuthToken
    ) async throws(OAuthError) -> OAuthToken {
        try knowledge.pause.check()
        do throws(OAuthError) { return try await request() } catch {
            knowledge.pause.begin(after: error)
            throw error
        }
    }
}

internal import NevodSupport

/// One renewal of a coordinator's token. A task that the renewal started and left running sees here that it has finished.
final class Renewal: Sendable {
    let coordinator: ObjectIdentifier
    /// Whether the token that is renewed still works: nobody has refused it, and it has not expired.
    let isEarly: Bool
    private let finished = Locked(false)
    private let version: Locked<TokenVersion>
    /// Releases the storage's renewal lock before the renewal has finished. A flow that asks a person calls it, since it no
    /// longer spends the stored token, and other processes needn't wait for the person. May be called more than once.
    let releaseLock: @Sendable () -> Void
    private let confirmLock: @Sendable () async throws -> Void
    private let progress = Locked(Progress.waiting)

    private enum Progress {
        /// Nothing has been sent that could spend the stored token.
        case waiting
        case sent
        /// Another process has taken over the storage's renewal lock before anything was sent.
        case stopped
    }

    /// - Parameters:
    ///   - base: the version that the renewed token will replace.
    ///   - isEarly: whether the token still works.
    ///   - confirmLock: throws if the storage's renewal lock is no longer held.
    init(
        of coordinator: ObjectIdentifier, _ base: TokenVersion, isEarly: Bool = false,
        releaseLock: @escaping @Sendable () -> Void = {},
        confirmLock: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.coordinator = coordinator
        self.isEarly = isEarly
        version = Locked(base)
        self.releaseLock = releaseLock
        self.confirmLock = confirmLock
    }

    /// Checks, before a request of the renewal is sent, that the storage's renewal lock is still held. Once a request that may spend
    /// the stored token was sent, the renewal goes on in any case: stopping would lose the new token.
    ///
    /// - Parameter isSafe: whether the request's method is safe (RFC 9110 §9.2.1), so that it spends nothing.
    func willSend(isSafe: Bool) async throws {
        guard progress.withLock({ $0 != .sent }) else { return }
        do { try await confirmLock() } catch {
            progress.withLock { $0 = .stopped }
            throw error
        }
        if !isSafe { progress.withLock { $0 = .sent } }
    }

    /// Whether the renewal was stopped before it had sent anything.
    var isStopped: Bool { progress.withLock { $0 == .stopped } }

    /// The version that the renewed token will replace. Changes when a token is saved in the middle of the renewal.
    var base: TokenVersion {
        get { version.withLock { $0 } }
        set { version.withLock { $0 = newValue } }
    }

    var isFinished: Bool { finished.withLock { $0 } }

    func finish() {
        finished.withLock { $0 = true }
    }
}

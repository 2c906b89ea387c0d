internal import NevodSupport

/// One renewal of a coordinator's token. A task that the renewal started and left running sees here that it has finished.
final class Renewal: Sendable {
    let coordinator: ObjectIdentifier
    private let finished = Locked(false)
    private let version: Locked<TokenVersion>
    /// Releases the storage's renewal lock before the renewal has finished. A flow that asks a person calls it, since it no
    /// longer spends the stored token, and other processes needn't wait for the person. May be called more than once.
    let releaseLock: @Sendable () -> Void

    /// - Parameter base: the version that the renewed token will replace.
    init(of coordinator: ObjectIdentifier, _ base: TokenVersion, releaseLock: @escaping @Sendable () -> Void = {}) {
        self.coordinator = coordinator
        version = Locked(base)
        self.releaseLock = releaseLock
    }

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

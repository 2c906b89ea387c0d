internal import CSecretService
internal import NevodStorage
internal import NevodSupport

/// Makes all calls of this process to the Secret Service, one after another on a thread of its own, each with a time limit.
final class ServiceClient: Sendable {
    static let shared = ServiceClient()
    static let limit: Duration = .seconds(10)

    private let thread = StorageThread()
    // Used only on the thread.
    private let session = Locked<ServiceSession?>(nil)

    typealias Body<Result> = @Sendable (ServiceSession, ServiceObject) throws(SecretServiceError) -> Result

    /// - Parameters:
    ///   - limit: The time limit from now, including the wait for earlier calls.
    ///   - lock: Held during the call. Excludes all processes that use the same lock.
    ///   - body: Run again if a kept connection turns out to be dead, so it must be safe to repeat.
    func run<Result: Sendable>(
        within limit: Duration = ServiceClient.limit, lock: WriteLock? = nil, _ body: @escaping Body<Result>
    ) async throws(StorageError) -> Result {
        let (deadline, end) = (CallDeadline(), ContinuousClock.now + limit)
        let timer = Task {
            try await Task.sleep(for: limit)
            deadline.expire()
        }
        defer { timer.cancel() }
        return try await thread.run { () throws(StorageError) in
            try SessionBus.check()
            let library = try SecretLibrary()
            let held = try lock?.take(until: end)
            defer { withExtendedLifetime(held) {} }
            guard let cancellable = ServiceObject(library.call.g_cancellable_new(), library.call.g_object_unref) else {
                throw StorageError(.other, "GLib", problem: "can't create a GCancellable")
            }
            deadline.onExpiry { library.call.g_cancellable_cancel(cancellable.pointer) }
            do throws(SecretServiceError) {
                return try self.run(body, library, cancellable)
            } catch {
                throw deadline.hasExpired ? SecretServiceError.timeout(limit) : error.error
            }
        }
    }

    private func run<Result>(
        _ body: Body<Result>, _ library: SecretLibrary, _ cancellable: ServiceObject
    ) throws(SecretServiceError) -> Result {
        if let kept = session.withLock(\.self) {
            do throws(SecretServiceError) { return try body(kept, cancellable) } catch {
                guard case .service = error else { throw error }
                session.withLock { $0 = nil }
            }
        }
        let new = try ServiceSession(library, cancellable)
        let result = try body(new, cancellable)
        session.withLock { $0 = new }
        return result
    }
}

/// Cancels a call to the service when its time limit expires, even if the call starts later.
final class CallDeadline: Sendable {
    private struct State {
        var hasExpired = false
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    var hasExpired: Bool { state.withLock(\.hasExpired) }

    func expire() {
        let cancel = state.withLock { state in
            state.hasExpired = true
            return state.cancel
        }
        cancel?()
    }

    /// - Parameter cancel: Called on expiry, on any thread; at once if the deadline has passed.
    func onExpiry(_ cancel: @escaping @Sendable () -> Void) {
        let hasExpired = state.withLock { state in
            state.cancel = cancel
            return state.hasExpired
        }
        if hasExpired { cancel() }
    }
}

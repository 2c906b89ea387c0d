internal import CSecretService
internal import NevodStorage
internal import NevodSupport

/// Makes all calls of this process to the Secret Service, one after another on a thread of its own, each with a time limit.
final class ServiceClient: Sendable {
    static let shared = ServiceClient()
    static let limit: Duration = .seconds(10)

    private let thread = StorageThread()
    // Used on the thread alone.
    private let session = Locked<ServiceSession?>(nil)

    typealias Body<Result> = @Sendable (ServiceSession, ServiceObject) throws(SecretServiceError) -> Result

    /// - Parameters:
    ///   - limit: The time limit from now, including the wait for earlier calls.
    ///   - lock: Held during the call, among all processes that use the same one.
    ///   - body: Run again if a kept connection turns out to be dead, so it must be safe to repeat.
    func run<Result: Sendable>(
        within limit: Duration = ServiceClient.limit, lock: WriteLock? = nil, _ body: @escaping Body<Result>
    ) async throws(StorageError) -> Result {
        let deadline = CallDeadline()
        let timer = Task {
            try await Task.sleep(for: limit)
            deadline.expire()
        }
        defer { timer.cancel() }
        return try await thread.run { () throws(StorageError) in
            try SessionBus.check()
            let library = try SecretLibrary()
            let held = try lock?.take(deadline)
            defer { _ = held }
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

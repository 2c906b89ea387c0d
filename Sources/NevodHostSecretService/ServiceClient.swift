internal import CSecretService
internal import NevodStorage
internal import NevodSupport

/// All calls of this process to the Secret Service, one after another on a thread of their own, each within a time limit.
final class ServiceClient: Sendable {
    static let shared = ServiceClient()
    static let limit: Duration = .seconds(10)

    private let thread = StorageThread()
    // Used on that thread alone.
    private let session = Locked<ServiceSession?>(nil)

    typealias Body<Result> = @Sendable (ServiceSession, ServiceObject) throws(SecretServiceError) -> Result

    /// - Parameters:
    ///   - limit: counts from now, whoever else waits.
    ///   - lock: held meanwhile, among the processes that use the same.
    ///   - body: run once more if a connection that was kept turns out to be dead: doing it twice must do no harm.
    func run<Result: Sendable>(
        within limit: Duration = ServiceClient.limit, lock: WriteLock? = nil, _ body: @escaping Body<Result>
    ) async throws(StorageError) -> Result {
        let ending = CallLimit()
        let timer = Task {
            try await Task.sleep(for: limit)
            ending.pass()
        }
        defer { timer.cancel() }
        return try await thread.run { () throws(StorageError) in
            try SessionBus.check()
            let library = try SecretLibrary()
            let held = try lock?.take(ending)
            defer { _ = held }
            guard let cancellable = ServiceObject(library.call.g_cancellable_new(), library.call.g_object_unref) else {
                throw StorageError(.other, "GLib", problem: "can't make a GCancellable")
            }
            ending.onPass { library.call.g_cancellable_cancel(cancellable.pointer) }
            do throws(SecretServiceError) {
                return try self.run(body, library, cancellable)
            } catch {
                throw ending.isOver ? SecretServiceError.late(limit) : error.error
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

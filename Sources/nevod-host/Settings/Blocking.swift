import Glibc
import NevodSupport

/// Runs asynchronous work on the thread pool and blocks this thread until it has finished. The work must not need this thread.
func waiting<Success: Sendable>(for work: @escaping @Sendable () async throws -> Success) throws -> Success {
    let outcome = Locked<Result<Success, any Error>?>(nil)
    let finished = try WakeUp()
    Task.detached {
        let result: Result<Success, any Error>
        do { result = .success(try await work()) } catch { result = .failure(error) }
        outcome.withLock { $0 = result }
        finished.wake()
    }
    finished.wait()
    guard let result = outcome.withLock(\.self) else { throw CancellationError() }
    return try result.get()
}

internal import NevodStorage
internal import NevodSupport

/// Several workers; each call goes to the one with the fewest calls under way.
final class PostgreSQLPool: Sendable {
    private let workers: [PostgreSQLWorker]
    private let loads: Locked<[Int]>

    /// - Parameter count: At least one.
    init(_ target: PostgreSQLTarget, count: Int) {
        workers = (0..<max(1, count)).map { _ in PostgreSQLWorker(target) }
        loads = Locked(workers.map { _ in 0 })
    }

    func withWorker<Result: Sendable>(
        _ body: @Sendable (PostgreSQLWorker) async throws(PostgreSQLError) -> Result
    ) async throws(PostgreSQLError) -> Result {
        let index = loads.withLock { loads in
            // The first of the least busy, so that light use needs only one connection.
            let index = loads.indices.min { loads[$0] < loads[$1] } ?? 0
            loads[index] += 1
            return index
        }
        defer { loads.withLock { $0[index] -= 1 } }
        return try await body(workers[index])
    }

    /// Does the same, and throws the underlying `StorageError`.
    func perform<Result: Sendable>(
        _ body: @Sendable (PostgreSQLWorker) async throws(PostgreSQLError) -> Result
    ) async throws(StorageError) -> Result {
        do throws(PostgreSQLError) {
            return try await withWorker(body)
        } catch {
            throw error.error
        }
    }
}

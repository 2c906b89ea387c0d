internal import NevodStorage
internal import NevodSupport

/// Several workers. Each call goes to the worker with the fewest calls under way.
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
            // Takes the first of the least busy workers, so that light use needs only one connection.
            let index = loads.indices.min { loads[$0] < loads[$1] } ?? 0
            loads[index] += 1
            return index
        }
        defer { loads.withLock { $0[index] -= 1 } }
        return try await body(workers[index])
    }

    /// Like ``withWorker(_:)``, but throws the underlying `StorageError`.
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

/// A connection and the thread that uses it. Connects on first use, and reconnects after the connection is lost.
final class PostgreSQLWorker: Sendable {
    private let target: PostgreSQLTarget
    private let thread: StorageThread
    // Used only on the thread, like the two below.
    private nonisolated(unsafe) var connection: PostgreSQLConnection?
    /// The number of the connection.
    private nonisolated(unsafe) var number = 0
    /// The failure of the last attempt to connect, and its time.
    private nonisolated(unsafe) var refusal: (failure: PostgreSQLError, time: ContinuousClock.Instant)?

    init(_ target: PostgreSQLTarget, _ thread: StorageThread = StorageThread()) {
        self.target = target
        self.thread = thread
    }

    /// Runs the body to completion, even if the calling task is cancelled. If the server can't be reached, all calls that are
    /// already waiting fail with the same error: connecting again for each would multiply the wait.
    ///
    /// - Parameter body: Receives the connection, and its number among the connections of this worker.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLConnection, _ number: Int) throws(PostgreSQLError) -> Result
    ) async throws(PostgreSQLError) -> Result {
        let start = ContinuousClock.now
        return try await onThread { () throws(PostgreSQLError) in
            let connection = try self.connected(for: start)
            defer { if connection.isBroken { self.connection = nil } }
            return try body(connection, self.number)
        }
    }

    /// Runs a body that is safe to repeat. If the connection is lost, runs it once more on a new connection.
    func runRetrying<Result: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLConnection, _ number: Int) throws(PostgreSQLError) -> Result
    ) async throws(PostgreSQLError) -> Result {
        do throws(PostgreSQLError) {
            return try await run(body)
        } catch {
            guard error.isConnectionLost || error.isTransient else { throw error }
            return try await run(body)
        }
    }

    private func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(PostgreSQLError) -> Value
    ) async throws(PostgreSQLError) -> Value {
        let result: Result<Value, PostgreSQLError>
        do throws(StorageError) {
            result = try await thread.run { Result(catching: body) }
        } catch {
            throw PostgreSQLError(error: error, isUnreachable: true)
        }
        return try result.get()
    }

    /// - Parameter start: When the call began to wait.
    private func connected(for start: ContinuousClock.Instant) throws(PostgreSQLError) -> PostgreSQLConnection {
        if let connection {
            // The server may have closed the connection meanwhile, and announced that.
            connection.takeInput()
            if !connection.isBroken { return connection }
            self.connection = nil
        }
        if let refusal, start < refusal.time { throw refusal.failure }
        do throws(PostgreSQLError) {
            let new = try target.connect()
            connection = new
            number += 1
            return new
        } catch {
            refusal = (error, .now)
            throw error
        }
    }
}

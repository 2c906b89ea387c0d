internal import NevodStorage
internal import NevodSupport

/// A connection and the thread that uses it. Connects on first use, and reconnects after the connection is lost.
final class PostgreSQLWorker: Sendable {
    private let target: PostgreSQLTarget
    private let thread: StorageThread
    // Used on the thread alone, as are the two below.
    private nonisolated(unsafe) var connection: PostgreSQLConnection?
    /// The number of the connection. Used on the thread alone.
    private nonisolated(unsafe) var number = 0
    /// How the last attempt to connect failed, and when.
    private nonisolated(unsafe) var refusal: (failure: PostgreSQLError, time: ContinuousClock.Instant)?

    init(_ target: PostgreSQLTarget, _ thread: StorageThread = StorageThread()) {
        self.target = target
        self.thread = thread
    }

    /// Runs the body to completion, even if the calling task is cancelled. If the server can't be reached, every call that was
    /// already waiting fails with the same error: connecting again for each would multiply the wait.
    ///
    /// - Parameter body: Receives the connection and its number among those of this worker.
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

    /// Runs a body that is safe to repeat: once more, on a new connection if this one is lost.
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
            // The server may have closed it meanwhile, and sent word of that.
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

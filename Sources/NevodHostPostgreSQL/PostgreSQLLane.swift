internal import NevodStorage
internal import NevodSupport

/// A connection and the thread that it is used on. Connects when it is first used, and again after the connection was lost.
final class PostgreSQLLane: Sendable {
    private let target: PostgreSQLTarget
    private let thread = StorageThread()
    // All used on the thread alone.
    private nonisolated(unsafe) var connection: PostgreSQLConnection?
    private nonisolated(unsafe) var number = 0
    /// How connecting failed last, and when.
    private nonisolated(unsafe) var refusal: (failure: PostgreSQLError, end: ContinuousClock.Instant)?

    init(_ target: PostgreSQLTarget) {
        self.target = target
    }

    /// Runs to its end, whether or not the calling task is cancelled. If the server can't be reached, all that wait for this thread
    /// fail at once: one after another they would wait many times as long, for the same.
    ///
    /// - Parameter body: is told which of the lane's connections it is.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLConnection, _ number: Int) throws(PostgreSQLError) -> Result
    ) async throws(PostgreSQLError) -> Result {
        let asked = ContinuousClock.now
        return try await thread.run { () throws(PostgreSQLError) in
            let connection = try self.connected(asked)
            defer { if connection.isBroken { self.connection = nil } }
            return try body(connection, self.number)
        }
    }

    /// For what is worth something on one connection only. Nil: that one has gone.
    func run<Result: Sendable>(
        on number: Int, _ body: @escaping @Sendable (PostgreSQLConnection) throws(PostgreSQLError) -> Result
    ) async throws(PostgreSQLError) -> Result? {
        try await thread.run { () throws(PostgreSQLError) in
            guard let connection = self.connection, number == self.number else { return nil }
            defer { if connection.isBroken { self.connection = nil } }
            return try body(connection)
        }
    }

    /// For what may be done twice: again on a fresh connection, if this one is lost.
    func runAgain<Result: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLConnection, _ number: Int) throws(PostgreSQLError) -> Result
    ) async throws(PostgreSQLError) -> Result {
        do throws(PostgreSQLError) {
            return try await run(body)
        } catch {
            guard error.isLost || error.isPassing else { throw error }
            return try await run(body)
        }
    }

    /// - Parameter asked: since when it is waited for.
    private func connected(_ asked: ContinuousClock.Instant) throws(PostgreSQLError) -> PostgreSQLConnection {
        if let connection {
            // The server may have ended it meanwhile, and has said so.
            connection.takeInput()
            if !connection.isBroken { return connection }
            self.connection = nil
        }
        if let refusal, asked < refusal.end { throw refusal.failure }
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

/// Some lanes, of which the one with the least to do takes what comes next.
final class PostgreSQLPool: Sendable {
    private let lanes: [PostgreSQLLane]
    private let loads: Locked<[Int]>

    /// - Parameter count: at least one.
    init(_ target: PostgreSQLTarget, count: Int) {
        lanes = (0..<max(1, count)).map { _ in PostgreSQLLane(target) }
        loads = Locked(lanes.map { _ in 0 })
    }

    func withLane<Result: Sendable>(
        _ body: @Sendable (PostgreSQLLane) async throws(PostgreSQLError) -> Result
    ) async throws(PostgreSQLError) -> Result {
        let index = loads.withLock { loads in
            // The first of the least busy: what a little work can do, one connection does.
            let index = loads.indices.min { loads[$0] < loads[$1] } ?? 0
            loads[index] += 1
            return index
        }
        defer { loads.withLock { $0[index] -= 1 } }
        return try await body(lanes[index])
    }
}

internal import NevodStorage
internal import NevodSupport

/// Batches reads: all reads that are requested during a round trip share the next one.
final class PostgreSQLReadBatcher: Sendable {
    /// The largest number of keys in a round trip. Some may have values of a megabyte.
    private static let maximumBatch = 128

    private typealias Outcome = Result<PostgreSQLEntry, PostgreSQLError>
    private typealias Request = (key: StorageKey, continuation: CheckedContinuation<Outcome, Never>)

    private struct State {
        var isRunning = false
        var waiting: [Request] = []
    }

    private let worker: PostgreSQLWorker
    private let schema: PostgreSQLSchema
    private let state = Locked(State())
    private let roundTrips = Locked(0)

    init(_ target: PostgreSQLTarget, _ schema: PostgreSQLSchema) {
        worker = PostgreSQLWorker(target)
        self.schema = schema
    }

    /// The number of round trips so far.
    var roundTripCount: Int { roundTrips.withLock(\.self) }

    func entry(for key: StorageKey) async throws(PostgreSQLError) -> PostgreSQLEntry {
        let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
            let mustStart = state.withLock { state in
                state.waiting.append((key, continuation))
                defer { state.isRunning = true }
                return !state.isRunning
            }
            if mustStart { Task { await run() } }
        }
        return try outcome.get()
    }

    private func run() async {
        while case var batch = takeBatch(), !batch.isEmpty {
            roundTrips.withLock { $0 += 1 }
            let keys = Array(Set(batch.map(\.key)))
            let schema = schema
            let result: Result<[StorageKey: PostgreSQLEntry], PostgreSQLError>
            do throws(PostgreSQLError) {
                result = .success(
                    try await worker.runRetrying { (connection, _) throws(PostgreSQLError) in
                        try connection.entries(of: keys, schema)
                    })
            } catch {
                result = .failure(error)
                // Requests that arrived meanwhile fail too: another attempt to connect would take as long, and fail as well.
                if error.isUnreachable { batch += takeAll() }
            }
            for (key, continuation) in batch {
                continuation.resume(returning: result.map { $0[key] ?? PostgreSQLEntry() })
            }
        }
    }

    /// - Returns: an empty array if no request is waiting; the next request then starts another run.
    private func takeBatch() -> [Request] {
        state.withLock { state in
            let taken = Array(state.waiting.prefix(Self.maximumBatch))
            state.waiting.removeFirst(taken.count)
            if taken.isEmpty { state.isRunning = false }
            return taken
        }
    }

    private func takeAll() -> [Request] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}

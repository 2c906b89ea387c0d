internal import NevodStorage
internal import NevodSupport

/// Reads that are asked for at the same time share a round trip: while one is under way, those that come wait for the next.
final class PostgreSQLReads: Sendable {
    /// Of one round trip: some of them may have values of a megabyte.
    private static let most = 128

    private typealias Answer = Result<SealedEntry, PostgreSQLError>
    private typealias Waiting = (key: StorageKey, continuation: CheckedContinuation<Answer, Never>)

    private struct State {
        var isRunning = false
        var waiting: [Waiting] = []
    }

    private let lane: PostgreSQLLane
    private let schema: PostgreSQLSchema
    private let state = Locked(State())
    private let turns = Locked(0)

    init(_ target: PostgreSQLTarget, _ schema: PostgreSQLSchema) {
        lane = PostgreSQLLane(target)
        self.schema = schema
    }

    /// How many round trips there were.
    var turnCount: Int { turns.withLock(\.self) }

    func entry(for key: StorageKey) async throws(PostgreSQLError) -> SealedEntry {
        let answer = await withCheckedContinuation { (continuation: CheckedContinuation<Answer, Never>) in
            let mustStart = state.withLock { state in
                state.waiting.append((key, continuation))
                defer { state.isRunning = true }
                return !state.isRunning
            }
            if mustStart { Task { await run() } }
        }
        return try answer.get()
    }

    private func run() async {
        while case var waiting = take(), !waiting.isEmpty {
            turns.withLock { $0 += 1 }
            let keys = Array(Set(waiting.map(\.key)))
            let schema = schema
            let answer: Result<[StorageKey: SealedEntry], PostgreSQLError>
            do throws(PostgreSQLError) {
                answer = .success(
                    try await lane.runAgain { (connection, _) throws(PostgreSQLError) in
                        try connection.entries(of: keys, schema)
                    })
            } catch {
                answer = .failure(error)
                // Who has come meanwhile would wait as long, for the same.
                if error.isUnreached { waiting += takeAll() }
            }
            for (key, continuation) in waiting {
                continuation.resume(returning: answer.map { $0[key] ?? SealedEntry() })
            }
        }
    }

    /// None: nobody waits, and who comes next starts anew.
    private func take() -> [Waiting] {
        state.withLock { state in
            let taken = Array(state.waiting.prefix(Self.most))
            state.waiting.removeFirst(taken.count)
            if taken.isEmpty { state.isRunning = false }
            return taken
        }
    }

    private func takeAll() -> [Waiting] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}

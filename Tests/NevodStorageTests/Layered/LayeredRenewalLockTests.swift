import NevodStorage
import NevodSupport
import NevodTestSupport
import Testing

struct LayeredRenewalLockTests {
    /// A store with a lock that can fail.
    private final class Locking: RenewalLockingStorage {
        private let name: String
        private let failure: (any Error)?
        private let log: Collected<String>

        init(_ name: String, _ log: Collected<String>, failure: (any Error)? = nil) {
            (self.name, self.log, self.failure) = (name, log, failure)
        }

        func data(for key: StorageKey) -> [UInt8]? { nil }
        func set(_ value: [UInt8]?, for key: StorageKey) {}
        func remove(for key: StorageKey) {}

        func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
            if let failure { throw failure }
            log.append("\(name) locks \(key)")
            await body()
        }
    }

    private let log = Collected<String>()

    private func run(_ remote: some KeyValueStorage, _ local: some KeyValueStorage) async throws -> [String] {
        let log = log
        try await LayeredStorage(remote: remote, local: local).withRenewalLock(for: "token") { log.append("renewed") }
        return log.values
    }

    /// The local lock is taken first: a process that then loses the remote store still holds the lock that others fall back to.
    @Test func `The renewal lock takes the locks of both stores`() async throws {
        let both = try await run(Locking("remote", log), Locking("local", log))
        #expect(both == ["local locks token", "remote locks token", "renewed"])
    }

    @Test func `A lock that fails is skipped, and its body runs once`() async throws {
        let away = Locking("remote", log, failure: StorageError(.unavailable, "it", problem: "is away"))
        #expect(try await run(away, Locking("local", log)) == ["local locks token", "renewed"])
        #expect(try await run(InMemoryStorage(), Locking("local", log)).count == 4)
        #expect(try await run(InMemoryStorage(), InMemoryStorage()).count == 5)
    }

    @Test func `A lock that is held remotely, or a cancelled wait, is not replaced by the local lock`() async throws {
        let held = StorageError(.busy, "it", problem: "is held")
        await #expect(throws: held) { try await run(Locking("remote", log, failure: held), Locking("local", log)) }
        await #expect(throws: CancellationError.self) {
            try await run(Locking("remote", log, failure: CancellationError()), Locking("local", log))
        }
        #expect(!log.values.contains("renewed"))
    }
}

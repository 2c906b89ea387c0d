import NevodHost
import NevodStorage
import NevodTestSupport
import Testing

@Suite(.blocking) struct FleetTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func fleet(_ storage: some KeyValueStorage, _ store: String) async throws -> Fleet {
        try await Fleet(folder, storage) { try StorageChild.spawn(["fleet", store] + $0) }
    }

    private func sqlite() async throws -> (SQLiteStorage, store: String) {
        let store = folder.makeFolder("store")
        return (try await SQLiteStorage(path: "\(store)/tokens.db", keys: [KeyFile(path: "\(store)/key")]), "sqlite:\(store)")
    }

    @Test func `Eight processes with twenty sessions make one exchange for each session and expiry, and lose none`() async throws
    {
        let (storage, store) = try await sqlite()
        try await fleet(storage, store).survive(processes: 8, sessions: 20, rounds: 5)
        #expect(try await storage.verify().problems == [])
    }

    @Test(.timeLimit(.minutes(60))) func `While others write, no session is lost, and each expiry costs one exchange`()
        async throws
    {
        let (storage, store) = try await sqlite()
        let size = StormSize.current
        let path = storage.path
        let fleet = try await Fleet(folder, storage) { try StorageChild.spawn(["storm", store] + $0) }
        try await fleet.survive(processes: size.processes, sessions: size.sessions, rounds: size.rounds) { _, lasts in
            // Each holds the database's write lock for a while.
            while lasts() {
                _ = try Command.python(
                    """
                    import sqlite3, sys, time
                    database = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
                    database.execute("BEGIN IMMEDIATE")
                    time.sleep(0.3)
                    database.execute("ROLLBACK")
                    """, [path])
            }
        }
        #expect(try await storage.verify().problems == [])
    }

    @Test func `Two processes with a folder of files make one exchange for each session and expiry`() async throws {
        let store = folder.makeFolder("files")
        try await fleet(FileStorage(directory: store), store).survive(processes: 2, sessions: 5, rounds: 4)
    }

    @Test func `A process that is killed in its exchange costs at most that session, and the others say so`() async throws {
        let (storage, store) = try await sqlite()
        try await fleet(storage, store).surviveKills()
        #expect(try await storage.verify().problems == [])
    }
}

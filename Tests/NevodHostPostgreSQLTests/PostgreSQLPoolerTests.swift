import NevodHost
import NevodTestSupport
import Testing

@testable import NevodHostPostgreSQL

/// A store whose server is reached through PgBouncer.
@Suite(.blocking, .serialized, .timeLimit(.minutes(3)))
struct PostgreSQLPoolerTests {
    private let server: PostgreSQLServer
    /// The pooler's folder, to which another user may write, and the key's, to which nobody else may.
    private let (folder, keys): (TemporaryFolder, TemporaryFolder)
    private let key: KeyFile

    init() throws {
        server = try PostgreSQLServer.shared()
        (folder, keys) = (try TemporaryFolder(), try TemporaryFolder())
        key = KeyFile(path: "\(keys.path)/key")
    }

    @Test(arguments: ["transaction", "statement"])
    func `A pooler that keeps no sessions is refused and named`(mode: String) async throws {
        let pooler = try PgBouncer(before: server, folder, mode: mode)
        let error = await #expect(throws: StorageError.self) {
            try await server.open("\(server.schema())\(mode)", keys: [key], connection: pooler.connection)
        }
        #expect(error?.problem.contains("PgBouncer with pool_mode=transaction") == true, "\(error as Any)")
        #expect(error?.remedy?.contains("pool_mode=session") == true)
    }

    @Test func `A pooler that keeps sessions is used`() async throws {
        let pooler = try PgBouncer(before: server, folder, mode: "session")
        let storage = try await server.open(server.schema(), keys: [key], connection: pooler.connection)
        try await storage.set("x", for: "a")
        try await storage.withRenewalLock(for: "a") {}
        var changes = await storage.changes().makeAsyncIterator()
        try await server.open(server.schema(), keys: [key]).set("y", for: "a")
        while let changed = await changes.next(isolation: nil), changed != "a" {}
        #expect(try await eventually { try await storage.string(for: "a") == "y" })
    }
}

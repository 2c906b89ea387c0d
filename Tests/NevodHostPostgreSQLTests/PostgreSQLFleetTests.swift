import NevodHost
import NevodHostPostgreSQL
import NevodTestSupport
import Testing

/// Each process has its own connections.
@Suite(.blocking) struct PostgreSQLFleetTests {
    private let server: PostgreSQLServer
    private let folder: TemporaryFolder

    init() throws {
        server = try PostgreSQLServer.shared()
        folder = try TemporaryFolder()
    }

    /// - Parameter mode: the word for the helper program.
    private func fleet(_ storage: PostgreSQLStorage, _ schema: String, _ mode: String = "fleet") async throws -> Fleet {
        let store = [server.connection, schema, "\(folder.path)/key"]
        return try await Fleet(folder, storage) { try PostgreSQLChild.spawn([mode] + store + $0) }
    }

    private func open(_ schema: String) async throws -> PostgreSQLStorage {
        try await server.open(schema, keys: [KeyFile(path: "\(folder.path)/key")])
    }

    @Test func `Eight processes with twenty sessions make one exchange for each session and expiry, and lose none`() async throws
    {
        let schema = server.schema()
        let storage = try await open(schema)
        try await fleet(storage, schema).survive(processes: 8, sessions: 20, rounds: 3)
        #expect(try await storage.verify().problems == [])
    }

    @Test func `A process that is killed in its exchange costs at most that session, and the others say so`() async throws {
        let schema = server.schema()
        let storage = try await open(schema)
        try await fleet(storage, schema, "brief").surviveKills()
        #expect(try await storage.verify().problems == [])
    }
}

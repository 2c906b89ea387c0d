import Glibc
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHostPostgreSQL

@Suite(.blocking, .timeLimit(.minutes(3)))
struct PostgreSQLChangesTests {
    private let server: PostgreSQLServer
    private let folder: TemporaryFolder

    init() throws {
        server = try PostgreSQLServer.shared()
        folder = try TemporaryFolder()
    }

    private func open(_ schema: String = #function) async throws -> PostgreSQLStorage {
        try await server.open(server.schema(schema), keys: [KeyFile(path: "\(folder.path)/key")])
    }

    @Test func `A store hears of its own changes and of others', and of no other store's`() async throws {
        let (storage, other) = (try await open(), try await open())
        let elsewhere = try await server.open("\(server.schema())b", keys: [KeyFile(path: "\(folder.path)/key")])
        var changes = await storage.changes().makeAsyncIterator()
        try await elsewhere.set("x", for: "elsewhere")
        try await storage.set("1", for: "own 'ключ'")
        #expect(await changes.next(isolation: nil) == "own 'ключ'")
        try await other.set("2", for: "theirs")
        #expect(await changes.next(isolation: nil) == "theirs")
        try await other.remove(for: "theirs")
        #expect(await changes.next(isolation: nil) == "theirs")
        #expect(try await !other.replace([9], with: [1], for: "not replaced"))
        try await other.set("3", for: "last")
        #expect(await changes.next(isolation: nil) == "last")
    }

    @Test func `A token that one process saves comes to the others' streams, the newest last`() async throws {
        let (mine, theirs) = (
            TokenStorage<Token>(storage: try await open()), TokenStorage<Token>(storage: try await open())
        )
        #expect(try await mine.load() == nil)
        let changes = mine.changes
        for number in 1...50 { try await theirs.save(Token(value: "\(number)")) }
        var last: Token?
        for await token in changes {
            // Changes never arrive out of order.
            #expect((Int(last?.value ?? "0") ?? 0) <= (Int(token?.value ?? "") ?? 0))
            last = token
            if token?.value == "50" { break }
        }
        try await theirs.clear()
        #expect(try await eventually { try await mine.load() == nil })
    }

    @Test func `The stream of changes ends with its store`() async throws {
        var storage: PostgreSQLStorage? = try await open()
        var changes = await storage?.changes().makeAsyncIterator()
        try await storage?.set("1", for: "a")
        #expect(await changes?.next(isolation: nil) == "a")
        storage = nil
        #expect(await changes?.next(isolation: nil) == nil)
    }

    @Test func `Under the renewal lock a read asks the server, even if the value is cached`() async throws {
        let storage = try await open()
        try await storage.set("token", for: "a")
        #expect(try await eventually { try await storage.string(for: "a") == "token" })
        // Changes the value without a notification.
        try server.sql("UPDATE \(server.schema()).entry SET version = version + 1, sealed = NULL")
        let known = try await storage.string(for: "a")
        #expect(known == "token")
        let found = Shared<Result<String?, any Error>?>(nil)
        try await storage.withRenewalLock(for: "a") {
            do {
                let value = try await storage.string(for: "a")
                found.withLock { $0 = .success(value) }
            } catch {
                found.withLock { $0 = .failure(error) }
            }
        }
        #expect(try found.value?.get() == .some(nil))
    }

    @Test func `After a silence of the listener all values are read again and reported`() async throws {
        let storage = try await open()
        var changes = await storage.changes().makeAsyncIterator()
        try await storage.set("token", for: "a")
        // Its notification may arrive after the call has returned. It isn't the notification awaited below.
        #expect(await changes.next(isolation: nil) == "a")
        _ = try await storage.string(for: "a")
        try server.sql("UPDATE \(server.schema()).entry SET version = version + 1, sealed = NULL")
        try server.sql(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE query = 'LISTEN nevod_\(storage.keyring.store)'
                OR query LIKE '%pg_relation_filenode(to_regclass(''\(server.schema()).entry''))%' AND pid <> pg_backend_pid()
            """)
        #expect(try await eventually { try await storage.string(for: "a") == nil })
        // The change is reported when the listener is back. So are later changes.
        #expect(await changes.next(isolation: nil) == "a")
        try await open().set("next", for: "b")
        while let key = await changes.next(isolation: nil), key != "b" {}
        #expect(try await storage.string(for: "b") == "next")
    }
}

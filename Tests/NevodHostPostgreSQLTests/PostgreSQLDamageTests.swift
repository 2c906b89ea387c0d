import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHostPostgreSQL

/// Tables that were changed, removed or replaced without the store's knowledge.
@Suite(.blocking, .timeLimit(.minutes(3)))
struct PostgreSQLDamageTests {
    private let server: PostgreSQLServer
    private let folder: TemporaryFolder
    private let key: KeyFile

    init() throws {
        server = try PostgreSQLServer.shared()
        folder = try TemporaryFolder()
        key = KeyFile(path: "\(folder.path)/key")
    }

    private func open(_ schema: String = #function) async throws -> PostgreSQLStorage {
        try await server.open(server.schema(schema), keys: [key])
    }

    private func expectDamage(
        _ problem: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async {
        let error = await #expect(throws: StorageError.self, sourceLocation: sourceLocation) { try await body() }
        #expect(error?.code == .damaged, sourceLocation: sourceLocation)
        #expect(error?.problem.contains(problem) == true, "\(error as Any)", sourceLocation: sourceLocation)
    }

    @Test func `A store that has values and has lost its key is damaged, not new`() async throws {
        let (storage, schema) = (try await open(), server.schema())
        try await storage.set("1", for: "a")
        let row = try server.sql("DELETE FROM \(schema).store RETURNING encode(id, 'hex')")
        await expectDamage("has values, and has lost its key") { _ = try await open() }
        await expectDamage("has values, and has lost its key") { try await storage.set("2", for: "a") }
        #expect(row.count == 1)
        #expect(try server.sql("SELECT count(*) FROM \(schema).store") == ["0"])
        // Versions go on even after all values were removed.
        try server.sql("UPDATE \(schema).entry SET sealed = NULL")
        await expectDamage("has values, and has lost its key") { _ = try await open() }
    }

    @Test func `A store that takes the place of another isn't used with the other's key`() async throws {
        let (storage, schema) = (try await open(), server.schema())
        try await storage.set("1", for: "a")
        try server.sql("DROP SCHEMA \(schema) CASCADE")
        let new = try await open()
        try await new.set("new", for: "a")
        #expect(try server.sql("SELECT key_number FROM \(schema).store") == ["1"])
        // Both have key number 1.
        await expectDamage("holds a different store") { try await storage.set("2", for: "b") }
        await expectDamage("holds a different store") { _ = try await storage.verify() }
        await expectDamage("holds a different store") { try await storage.rekey(KeyFile(path: "\(folder.path)/next")) }
        #expect(try await new.string(for: "a") == "new")
        #expect(try await new.verify().problems == [])
    }

    @Test func `A dropped schema is noticed by stores that have cached its values`() async throws {
        let (storage, schema) = (try await open(), server.schema())
        try await storage.set("1", for: "a")
        #expect(
            try await eventually {
                _ = try await storage.string(for: "a")
                return storage.isCached("a")
            })
        try server.sql("DROP SCHEMA \(schema) CASCADE")
        let isNoticed = await eventually {
            do { return try await storage.string(for: "a") == nil } catch { return (error as? StorageError)?.code == .damaged }
        }
        #expect(isNoticed)
        await expectDamage("does not exist") { _ = try await storage.string(for: "a") }
    }

    @Test func `Values that are restored by replacing the table are noticed`() async throws {
        let (storage, schema) = (try await open(), server.schema())
        try await storage.set("1", for: "a")
        try server.sql("CREATE TABLE \(schema).backup AS SELECT * FROM \(schema).entry")
        try await storage.set("2", for: "a")
        #expect(
            try await eventually {
                _ = try await storage.string(for: "a")
                return storage.isCached("a")
            })
        try server.sql("TRUNCATE \(schema).entry; INSERT INTO \(schema).entry SELECT * FROM \(schema).backup")
        #expect(try await eventually { try await storage.string(for: "a") == "1" })
    }

    @Test func `A version that no program writes is damage, not a crash`() async throws {
        let schema = server.schema()
        try await open().set("1", for: "a")
        for version in [Int64.max, -1, .min] {
            try server.sql("UPDATE \(schema).entry SET version = \(version), sealed = NULL")
            await expectDamage("is \(version), which no store writes") { try await open().set("2", for: "a") }
        }
    }

    @Test func `Errors about layouts, columns and tables say what is wrong and what helps`() async throws {
        let schema = server.schema()
        let storage = try await open()
        try await storage.set("1", for: "a")
        try server.sql("ALTER TABLE \(schema).entry RENAME COLUMN sealed TO value")
        let column = await #expect(throws: StorageError.self) { try await storage.set("2", for: "a") }
        #expect(column?.code == .damaged)
        #expect(column?.remedy?.contains("update the program, or restore the schema") == true, "\(column as Any)")
        for (change, problem) in [
            ("UPDATE \(schema).layout SET version = -1", "has layout -1, which no program writes"),
            ("UPDATE \(schema).layout SET version = 9223372036854775807", "supports none later than 2"),
            ("INSERT INTO \(schema).layout VALUES (1)", "has 2 rows instead of one"),
            ("DELETE FROM \(schema).layout", "has 0 rows instead of one"),
        ] {
            try server.sql(change)
            await expectDamage(problem) { _ = try await open() }
        }
        let foreign = "\(schema)b"
        try server.sql("CREATE SCHEMA \(foreign); CREATE TABLE \(foreign).store (name text)")
        let table = await #expect(throws: StorageError.self) { try await server.open(foreign, keys: [key]) }
        #expect(table?.code == .damaged && table?.remedy?.contains("choose another schema") == true)
    }

    @Test func `A store of the first layout keeps working, also for a program of that layout that is running`() async throws {
        let schema = server.schema()
        let storage = try await open()
        try await storage.set("old", for: "a")
        // Back to the first layout.
        try server.sql(
            """
            ALTER TABLE \(schema).entry DROP COLUMN fence, DROP COLUMN beat, DROP COLUMN holder, DROP COLUMN renews,
                DROP COLUMN since, DROP COLUMN until;
            UPDATE \(schema).layout SET version = 1
            """)
        let next = try await open()
        #expect(try await next.string(for: "a") == "old")
        try await next.withRenewalLock(for: "a") { try? await next.set("new", for: "a") }
        #expect(try await open().string(for: "a") == "new")
        // The earlier program's lock is also held.
        let number = next.dispatcher.locks.number(of: "a")
        let isFree = Shared<[String]>([])
        let server = server
        try await next.withRenewalLock(for: "a") {
            let found = try? server.sql("SELECT pg_try_advisory_lock(\(Int64(bitPattern: number)))")
            isFree.withLock { $0 = found ?? [] }
        }
        #expect(isFree.value == ["f"])
        // Only the owner can change the layout, and the error says so.
        try server.sql(
            """
            UPDATE \(schema).layout SET version = 1; DROP ROLE IF EXISTS reader_of_first; CREATE ROLE reader_of_first LOGIN;
            GRANT USAGE ON SCHEMA \(schema) TO reader_of_first;
            GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA \(schema) TO reader_of_first
            """)
        let error = await #expect(throws: StorageError.self) {
            try await server.open(schema, keys: [key], connection: "host=\(server.folder) user=reader_of_first dbname=postgres")
        }
        #expect(error?.code == .permissions)
        #expect(error?.remedy?.contains("as the schema's owner") == true)
    }

    @Test func `A server without a free connection is named as such`() async throws {
        let own = try PostgreSQLServer()
        try own.sql("ALTER SYSTEM SET max_connections = 6")
        own.restart()
        let storage = try await own.open("nevod", keys: [key])
        try await storage.set("1", for: "a")
        let target = try PostgreSQLTarget(LibPQ(), own.connection)
        var connections: [PostgreSQLConnection] = []
        var failure: PostgreSQLError?
        while failure == nil, connections.count < 10 {
            do throws(PostgreSQLError) { connections.append(try target.connect()) } catch { failure = error }
        }
        #expect(failure?.error.code == .unavailable)
        #expect(failure?.error.remedy?.contains("raise max_connections") == true, "\(failure as Any)")
    }

    @Test func `A listener that gets no thread listens as soon as there is one`() async throws {
        let storage = try await open()
        let attempts = Shared(0)
        let events = Shared(0)
        let listener = try PostgreSQLListener(
            PostgreSQLTarget(LibPQ(), server.connection), storage.schema, storage.keyring.store, channel: storage.channel,
            startThread: { body in
                let isFirst = attempts.withLock { count in
                    count += 1
                    return count == 1
                }
                return isFirst ? false : SystemThread.start(body)
            },
            onEvent: { event in if case .isListening(true) = event { events.withLock { $0 += 1 } } })
        await listener.start()
        #expect(await eventually { events.value > 0 })
        listener.stop()
    }
}

extension PostgreSQLStorage {
    fileprivate func isCached(_ key: StorageKey) -> Bool { dispatcher.cache.withLock { $0.value(for: key) != nil } }
}

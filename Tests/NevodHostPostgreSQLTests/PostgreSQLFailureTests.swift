import Glibc
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHostPostgreSQL

@Suite(.blocking, .timeLimit(.minutes(3)))
struct PostgreSQLFailureTests {
    private let folder: TemporaryFolder
    private let key: KeyFile

    init() throws {
        folder = try TemporaryFolder()
        key = KeyFile(path: "\(folder.path)/key")
    }

    @Test func `The error for an unreachable server names it and the way out`() async throws {
        let error = await #expect(throws: StorageError.self) {
            try await PostgreSQLStorage(connection: "host=\(folder.path) port=5433", keys: [key])
        }
        #expect(error?.code == .unavailable)
        #expect(error?.subject == "PostgreSQL at \(folder.path)/.s.PGSQL.5433")
        #expect(error?.remedy?.contains("PGHOST") == true)
        let port = try RawServer.closedPort()
        let refused = await #expect(throws: StorageError.self) {
            try await PostgreSQLStorage(connection: "postgresql://ada:secret@127.0.0.1:\(port)/db", keys: [key])
        }
        #expect(refused?.subject == "PostgreSQL at 127.0.0.1:\(port)")
        #expect(refused?.description.contains("secret") == false)
    }

    @Test func `No error quotes a password`() async throws {
        for text in ["host=x hunter2-is-the password", "postgresql://u:hunter2@h:port/", "password='hunter2"] {
            let error = await #expect(throws: StorageError.self) { try await PostgreSQLStorage(connection: text, keys: [key]) }
            #expect(error?.description.contains("hunter2") == false)
            #expect(error?.subject.hasPrefix("PostgreSQL") == true)
        }
        let server = try PostgreSQLServer.shared()
        try server.sql("DROP ROLE IF EXISTS guarded; CREATE ROLE guarded LOGIN PASSWORD 'right'")
        let wrong = await #expect(throws: StorageError.self) {
            try await PostgreSQLStorage(
                connection: "host=\(server.folder) user=guarded password=hunter2 dbname=postgres", keys: [key])
        }
        #expect(wrong?.code == .permissions)
        #expect(wrong?.description.contains("hunter2") == false)
        #expect(wrong?.remedy?.contains("PGPASSFILE") == true)
    }

    @Test func `A server that is full for a user whose password is right is no matter of permissions`() async throws {
        let server = try PostgreSQLServer.shared()
        try server.sql("DROP ROLE IF EXISTS guarded_crowd; CREATE ROLE guarded_crowd LOGIN PASSWORD 'right' CONNECTION LIMIT 0")
        let error = await #expect(throws: StorageError.self) {
            try await PostgreSQLStorage(
                connection: "host=\(server.folder) user=guarded_crowd password=right dbname=postgres", keys: [key])
        }
        #expect(error?.problem.contains("too many connections") == true)
        #expect(error?.code == .unavailable)
    }

    @Test func `A user who may not make the schema is told so; one who may use it needs no more`() async throws {
        let (server, schema) = (try PostgreSQLServer.shared(), try PostgreSQLServer.shared().schema())
        try server.sql("DROP ROLE IF EXISTS poor; CREATE ROLE poor LOGIN; REVOKE CREATE ON DATABASE postgres FROM PUBLIC")
        let connection = "host=\(server.folder) user=poor dbname=postgres"
        let error = await #expect(throws: StorageError.self) {
            try await server.open(schema, keys: [key], connection: connection)
        }
        #expect(error?.code == .permissions)
        #expect(error?.description.contains("42501") == true)
        try await server.open(schema, keys: [key]).set("x", for: "a")
        try server.sql(
            """
            GRANT USAGE ON SCHEMA \(schema) TO poor;
            GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA \(schema) TO poor
            """)
        let storage = try await server.open(schema, keys: [key], connection: connection)
        #expect(try await storage.string(for: "a") == "x")
        try await storage.set("y", for: "a")
        #expect(try await storage.string(for: "a") == "y")
    }

    @Test func `A library that isn't installed is an error that says what to install`() {
        let error = #expect(throws: StorageError.self) { try LibPQ("libpq-of-nobody.so.5") }
        #expect(error?.remedy?.contains("apt install libpq5") == true)
        let other = #expect(throws: StorageError.self) { try LibPQ("libc.so.6") }
        #expect(other?.description.contains("has no PQ") == true)
    }

    @Test func `The server's SQLSTATE becomes a StorageError code`() {
        let codes: [(String, StorageError.Code)] = [
            ("53100", .full), ("53300", .unavailable), ("28P01", .permissions), ("42501", .permissions), ("42P01", .damaged),
            ("25006", .unavailable), ("57014", .busy), ("40P01", .busy), ("57P01", .unavailable), ("08006", .unavailable),
            ("XX001", .damaged), ("54000", .tooLarge), ("22000", .other),
        ]
        for (state, code) in codes {
            let error = StorageError("PostgreSQL", sqlState: state, "no")
            #expect(error.code == code)
            #expect(error.problem == "no (SQLSTATE \(state))")
        }
    }

    @Test func `A write waits for as long as the table is locked, however often the server ends its wait`() async throws {
        let (server, schema) = (try PostgreSQLServer.shared(), try PostgreSQLServer.shared().schema())
        let storage = try await server.open(schema, keys: [key])
        // A rollback doesn't undo a sequence's increment.
        try server.sql(
            """
            CREATE SEQUENCE \(schema).tries;
            CREATE FUNCTION \(schema).refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('\(schema).tries') <= 6 THEN RAISE 'canceling statement due to lock timeout' USING ERRCODE = '55P03'; END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON \(schema).entry FOR EACH ROW EXECUTE FUNCTION \(schema).refuse()
            """)
        try await storage.set("x", for: "a")
        #expect(try server.sql("SELECT last_value FROM \(schema).tries") == ["7"])
        #expect(try await server.open(schema, keys: [key]).string(for: "a") == "x")
    }

    // MARK: Lost connections

    @Test func `Connections that the server closes in good order are reopened without an error`() async throws {
        let (server, schema) = (try PostgreSQLServer.shared(), try PostgreSQLServer.shared().schema())
        let storage = try await server.open(
            schema, keys: [key], connection: "\(server.connection) application_name=\(schema)")
        try await storage.set("1", for: "a")
        try await storage.withRenewalLock(for: "a") {}
        // Terminates all connections, and waits until they are gone.
        func end() throws {
            try server.sql(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = '\(schema)'")
        }
        try end()
        try await storage.set("2", for: "a")
        try end()
        #expect(try await storage.keys() == ["a"])
        storage.dispatcher.cache.withLock { $0.drop("a") }
        #expect(try await storage.string(for: "a") == "2")
        try end()
        let isRun = Shared(false)
        try await storage.withRenewalLock(for: "a") { isRun.withLock { $0 = true } }
        #expect(isRun.value)
        // A statement that must not run twice isn't sent on a closed connection.
        try end()
        let next = KeyFile(path: "\(folder.path)/next")
        try await storage.rekey(next)
        #expect(try await server.open(schema, keys: [next]).string(for: "a") == "2")
    }

    @Test func `A connection that the server ends in the middle of a statement is a lost one`() async throws {
        let server = try PostgreSQLServer.shared()
        let worker = PostgreSQLWorker(try PostgreSQLTarget(LibPQ(), server.connection))
        let end = "SELECT pg_terminate_backend(pg_backend_pid())"
        let failure = await #expect(throws: PostgreSQLError.self) {
            try await worker.run { (connection, _) throws(PostgreSQLError) in _ = try connection.execute(end) }
        }
        #expect(failure?.state == "57P01")
        #expect(failure?.isConnectionLost == true)
        let number = try await worker.runRetrying { (connection, number) throws(PostgreSQLError) in
            if number == 2 { try connection.execute(end) }
            return number
        }
        #expect(number == 3)
    }

    @Test(arguments: ["before", "after"])
    func `A write whose connection is lost takes effect once, and succeeds`(when: String) async throws {
        let server = try PostgreSQLServer.shared()
        let schema = "\(server.schema())\(when)"
        // The notification's payload, which occurs only in this write's statements.
        let mark = PostgreSQLNotification.changed("doomed", version: 2).payload
        let proxy = try CuttingProxy(to: server, in: folder, mark, when)
        defer { proxy.stop() }
        let storage = try await server.open(schema, keys: [key], connection: server.connection(to: folder.path))
        let witness = try await server.open(schema, keys: [key])
        var changes = await witness.changes().makeAsyncIterator()
        try await storage.set("first", for: "doomed")
        #expect(await changes.next(isolation: nil) == "doomed")
        #expect(try await storage.replace(Secret("first"), with: Secret("second"), for: "doomed"))
        #expect(try server.sql("SELECT version FROM \(schema).entry") == ["2"])
        #expect(await changes.next(isolation: nil) == "doomed")
        #expect(try await witness.string(for: "doomed") == "second")
        #expect(try await storage.replace(Secret("second"), with: nil, for: "doomed"))
    }

    @Test func `A write that is lost and can't be sent again is in doubt; one that was never sent isn't`()
        async throws
    {
        let server = try PostgreSQLServer.shared()
        let mark = PostgreSQLNotification.changed("doomed", version: 2).payload
        let proxy = try CuttingProxy(to: server, in: folder, mark, "closed")
        defer { proxy.stop() }
        let storage = try await server.open(server.schema(), keys: [key], connection: server.connection(to: folder.path))
        try await storage.set("first", for: "doomed")
        let error = await #expect(throws: StorageError.self) { try await storage.set("second", for: "doomed") }
        #expect(error?.problem.contains("whether it was saved is unknown") == true)
        let other = await #expect(throws: StorageError.self) { try await storage.set("x", for: "other") }
        #expect(other?.problem.hasPrefix("can't be reached") == true)
    }

    @Test(arguments: ["before", "after", "gone"])
    func `After a change of the key whose response is lost, the outcome is looked up and returned`(
        when: String
    ) async throws {
        let server = try PostgreSQLServer.shared()
        let schema = "\(server.schema())\(when)"
        setenv("NEVOD_PG_LOST_REKEY_TEST", String(repeating: "5a", count: 32), 1)
        let next = EnvironmentKey(variable: "NEVOD_PG_LOST_REKEY_TEST")
        try await server.open(schema, keys: [key]).set("value", for: "a")
        var proxy = try CuttingProxy(to: server, in: folder, "COMMIT", when)
        defer { proxy.stop() }
        let storage = try await server.open(schema, keys: [key], connection: server.connection(to: folder.path))
        if when == "after" {
            try await storage.rekey(next)
        } else {
            let error = await #expect(throws: StorageError.self) { try await storage.rekey(next) }
            #expect(error?.code == .unavailable)
            if when == "before" {
                #expect(error?.problem.hasPrefix("still has its old key") == true)
                #expect(error?.remedy == "it opens with the old key; try again")
            } else {
                #expect(error?.problem.contains("whether it was changed is unknown") == true)
                #expect(error?.remedy?.contains("open it with \(next.description), or,") == true)
                proxy.stop()
                proxy = try CuttingProxy(to: server, in: folder, "nothing of the kind", "before")
            }
        }
        // The open store keeps working with either key.
        #expect(try await eventually { try await storage.string(for: "a") == "value" })
        try await storage.set("newer", for: "a")
        #expect(try await storage.verify().problems == [])
        let (good, bad): (any StoreKeySource, any StoreKeySource) = when == "before" ? (key, next) : (next, key)
        #expect(storage.keyKind == good.kind)
        #expect(try await server.open(schema, keys: [good]).string(for: "a") == "newer")
        let error = await #expect(throws: StorageError.self) { try await server.open(schema, keys: [bad]) }
        #expect(error?.code == .unavailable)
    }

    @Test func `A server that is killed and comes back finds its stores going on, and every saved value is there`() async throws {
        let server = try PostgreSQLServer()
        let storage = try await server.open("nevod", keys: [key])
        let saved = Shared([Int](repeating: 0, count: 4))
        let isDone = Shared(false)
        try await withThrowingTaskGroup { group in
            for task in 0..<4 {
                group.addTask {
                    var number = 0
                    while !isDone.value {
                        number += 1
                        do {
                            try await storage.set("\(number)", for: StorageKey(rawValue: "k\(task)"))
                            saved.withLock { $0[task] = number }
                        } catch let error as StorageError {
                            #expect(error.code == .unavailable, "\(error)")
                            // Without a pause, thousands of attempts would fail while the server is down.
                            usleep(10_000)
                        }
                    }
                }
            }
            for _ in 0..<3 {
                let before = saved.withLock { $0 }
                #expect(await eventually { saved.withLock { zip($0, before).allSatisfy { $0 > $1 + 5 } } })
                server.restart()
            }
            let before = saved.withLock { $0 }
            #expect(await eventually { saved.withLock { zip($0, before).allSatisfy { $0 > $1 + 5 } } })
            isDone.withLock { $0 = true }
            try await group.waitForAll()
        }
        let other = try await server.open("nevod", keys: [key])
        for task in 0..<4 {
            let value = try await other.string(for: StorageKey(rawValue: "k\(task)")).flatMap { Int($0) } ?? 0
            #expect(value == saved.withLock { $0[task] })
        }
        #expect(try await other.verify().problems.isEmpty)

        var changes = await storage.changes().makeAsyncIterator()
        _ = try await storage.string(for: "k0")
        server.stopOrStart()
        let error = await #expect(throws: StorageError.self) { try await storage.set("down", for: "d") }
        #expect(error?.code == .unavailable)
        // Cached values are no longer trusted.
        let isAsked = await eventually {
            do { return try await storage.string(for: "k0") == nil } catch { return true }
        }
        #expect(isAsked)
        let locking = await #expect(throws: StorageError.self) { try await storage.withRenewalLock(for: "d") {} }
        #expect(locking?.code == .unavailable)
        server.stopOrStart()
        try await storage.set("up", for: "d")
        #expect(try await storage.string(for: "d") == "up")
        // Changes are reported again when the listener has reconnected.
        while let key = await changes.next(isolation: nil), key != "d" {}
    }
}

import Glibc
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHostPostgreSQL

/// Serialized, because all tests share the process's environment.
@Suite(.blocking, .serialized, .timeLimit(.minutes(3)))
struct PostgreSQLTargetTests {
    private let folder: TemporaryFolder
    private let key: KeyFile

    init() throws {
        folder = try TemporaryFolder()
        key = KeyFile(path: "\(folder.path)/key")
    }

    @Test func `The address and the password come from where libpq has them`() async throws {
        let server = try PostgreSQLServer.shared()
        try server.sql("DROP ROLE IF EXISTS guarded_by_file; CREATE ROLE guarded_by_file LOGIN PASSWORD 'right'")
        try server.sql("DROP SCHEMA IF EXISTS by_file; CREATE SCHEMA by_file AUTHORIZATION guarded_by_file")
        let passwords = try folder.write("pass", Array("*:*:*:guarded_by_file:right\n".utf8))
        let services = try folder.write(
            "services",
            Array(
                """
                [tokens]\nhost=\(server.folder)\nuser=guarded_by_file\ndbname=postgres\npassfile=\(passwords)\n\
                [careful]\nconnect_timeout=3\nkeepalives_idle=60\ntarget_session_attrs=primary\n
                """.utf8))
        setenv("PGSERVICEFILE", services, 1)
        let storage = try await PostgreSQLStorage(connection: "service=tokens", schema: "by_file", keys: [key])
        try await storage.set("x", for: "a")
        #expect(try server.sql("SELECT usename FROM pg_stat_activity WHERE usename = 'guarded_by_file'").isEmpty == false)

        // A service's parameters override the others.
        func told(_ connection: String) throws -> Set<String> {
            let parameters = try PostgreSQLTarget(LibPQ(), connection).parameters
            return Set(parameters.filter { $0.keyword != "dbname" }.map { "\($0.keyword)=\($0.value)" })
        }
        let all: Set = [
            "client_encoding=UTF8", "fallback_application_name=nevod-host", "connect_timeout=10",
            "target_session_attrs=read-write", "keepalives_idle=10", "keepalives_interval=5", "keepalives_count=3",
            "tcp_user_timeout=25000",
        ]
        #expect(try told("service=tokens") == all)
        #expect(
            try told("service=careful")
                == all.subtracting(["connect_timeout=10", "keepalives_idle=10", "target_session_attrs=read-write"]))
        #expect(try told("postgresql://h/d?connect_timeout=9") == all.subtracting(["connect_timeout=10"]))
        #expect(try told("") == all)
    }

    @Test func `The writable one of several servers is used, unless configured otherwise`() async throws {
        let (standby, primary) = (try PostgreSQLServer(), try PostgreSQLServer.shared())
        try standby.sql("ALTER SYSTEM SET default_transaction_read_only = on")
        try standby.sql("SELECT pg_reload_conf()")
        #expect(try await eventually { try standby.sql("SHOW default_transaction_read_only") == ["on"] })
        let connection = "host=\(standby.folder),\(primary.folder) user=postgres dbname=postgres"
        let storage = try await primary.open(primary.schema(), keys: [key], connection: connection)
        try await storage.set("x", for: "a")
        try await storage.withRenewalLock(for: "a") {}
        let isUnused = try await eventually {
            try standby.sql("SELECT 1 FROM pg_stat_activity WHERE application_name = 'nevod-host'").isEmpty
        }
        #expect(isUnused)

        func host(_ connection: String) throws -> String { try PostgreSQLTarget(LibPQ(), connection).connect().name }
        #expect(try host(connection).contains(primary.folder))
        #expect(try host("\(connection) target_session_attrs=any").contains(standby.folder))
        setenv("PGTARGETSESSIONATTRS", "any", 1)
        defer { unsetenv("PGTARGETSESSIONATTRS") }
        #expect(try host(connection).contains(standby.folder))
    }
}

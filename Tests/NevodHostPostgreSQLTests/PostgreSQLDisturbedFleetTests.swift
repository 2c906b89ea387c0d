import Glibc
import NevodHost
import NevodHostPostgreSQL
import NevodTestSupport
import Testing

/// The tokens' server loses connections, restarts, or is replaced while a fleet renews its tokens. No session is lost, and each
/// expiry costs one exchange.
@Suite(.blocking, .serialized) struct PostgreSQLDisturbedFleetTests {
    private let size = StormSize.current
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func survive(
        _ server: PostgreSQLServer, connection: String? = nil,
        _ disturb: @escaping @Sendable (_ round: Int, _ lasts: @Sendable () -> Bool) throws -> Void
    ) async throws {
        let store = [connection ?? server.connection, "nevod", "\(folder.path)/key"]
        let storage = try await server.open("nevod", keys: [KeyFile(path: store[2])], connection: store[0])
        let fleet = try await Fleet(folder, storage) { try PostgreSQLChild.spawn(["storm"] + store + $0) }
        try await fleet.survive(processes: size.processes, sessions: size.sessions, rounds: size.rounds, disturb)
        #expect(await eventually { (try? await storage.verify().problems) == [] })
    }

    /// Waits until a renewal has begun, or the round has ended.
    private static func awaitRenewal(_ server: PostgreSQLServer, _ lasts: () -> Bool) throws {
        while lasts(), try server.sql("SELECT 1 FROM nevod.entry WHERE holder IS NOT NULL LIMIT 1").isEmpty {}
    }

    private static func pause(_ time: Duration, _ lasts: () -> Bool) {
        let end = ContinuousClock.now + time
        while lasts(), ContinuousClock.now < end { usleep(10_000) }
    }

    @Test(.timeLimit(.minutes(60))) func `Backends are ended every half second`() async throws {
        let server = try PostgreSQLServer()
        try await survive(server) { _, lasts in
            while lasts() {
                try server.sql(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND random() < 0.5
                    """)
                Self.pause(.milliseconds(500), lasts)
            }
        }
    }

    @Test(.timeLimit(.minutes(60)), arguments: [true, false])
    func `The server restarts, in good order or as after a crash`(isInOrder: Bool) async throws {
        let server = try PostgreSQLServer()
        try await survive(server) { _, lasts in
            for _ in 0..<3 where lasts() {
                try Self.awaitRenewal(server, lasts)
                if isInOrder { server.restartInOrder() } else { server.restart() }
                Self.pause(.seconds(1), lasts)
            }
        }
    }

    @Test(.timeLimit(.minutes(60))) func `The server is away for a while`() async throws {
        let (server, outage) = (try PostgreSQLServer(), size.outage)
        try await survive(server) { _, lasts in
            try Self.awaitRenewal(server, lasts)
            server.stopOrStart()
            // Repeats for the given time, whether or not the round lasts.
            Self.pause(outage) { true }
            server.stopOrStart()
        }
    }

    @Test(.timeLimit(.minutes(60))) func `The server crashes, and its standby takes over`() async throws {
        let primary = try PostgreSQLServer()
        let standby = try PostgreSQLServer(standbyOf: primary)
        // Without this, a failover loses the last transactions, and with them tokens.
        try primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try primary.sql("SELECT pg_reload_conf()")
        #expect(
            try await eventually { try primary.sql("SELECT sync_state FROM pg_stat_replication") == ["sync"] })
        let connection = "host=\(primary.folder),\(standby.folder) user=postgres dbname=postgres"
        try await survive(primary, connection: connection) { round, lasts in
            guard round == 1 else { return }
            try Self.awaitRenewal(primary, lasts)
            primary.stopOrStart()
            standby.promote()
        }
        #expect(try standby.sql("SELECT pg_is_in_recovery()") == ["f"])
    }
}

internal import Glibc
internal import NevodTestSupport

/// A PgBouncer in front of a server, on a Unix socket in the server's folder.
final class PgBouncer: Sendable {
    let connection: String
    private let pid: pid_t
    private let pipe: Int32

    /// - Parameter mode: its `pool_mode`.
    init(before server: PostgreSQLServer, _ folder: TemporaryFolder, mode: String) throws {
        let port = mode == "session" ? 6432 : 6433
        let users = try folder.write("users", Array("\"postgres\" \"\"\n".utf8))
        let settings = try folder.write(
            "pgbouncer-\(mode).ini",
            Array(
                """
                [databases]
                postgres = host=\(server.folder) user=postgres
                [pgbouncer]
                listen_addr =
                unix_socket_dir = \(folder.path)
                listen_port = \(port)
                pool_mode = \(mode)
                auth_type = any
                auth_file = \(users)
                ignore_startup_parameters = extra_float_digits

                """.utf8))
        // It refuses to run as root.
        _ = try Command.output(["chmod", "-R", "a+rwX", folder.path])
        let program = ["/usr/sbin/pgbouncer", "-q", settings]
        (pid, pipe) = try Command.spawn(
            getuid() == 0 ? ["setpriv", "--reuid=nobody", "--clear-groups"] + program : program, quiet: true)
        connection = "host=\(folder.path) port=\(port) user=postgres dbname=postgres"
        let end = ContinuousClock.now + .seconds(60)
        // The socket exists before it accepts connections.
        while (try? Command.output(["pg_isready", "-q", "-h", folder.path, "-p", "\(port)"])) == nil {
            guard ContinuousClock.now < end else { throw Command.Failure(description: "pgbouncer didn't start") }
            usleep(10_000)
        }
    }

    deinit {
        kill(pid, SIGKILL)
        Command.wait(for: pid)
        close(pipe)
    }
}

internal import Glibc
internal import NevodTestSupport
internal import Testing

/// A proxy between stores and a server that cuts the first connection on which a mark is sent.
struct CuttingProxy {
    private let pid: pid_t
    private let pipe: Int32
    private let socket: String

    /// - Parameters:
    ///   - folder: the folder of the listening socket.
    ///   - when: `before` the mark has reached the server, or `after` the server has responded; `closed`: before, and only
    ///     open connections are served afterwards; `gone`: after, and no connection is served afterwards.
    init(to server: PostgreSQLServer, in folder: TemporaryFolder, _ mark: String, _ when: String) throws {
        let script = "\(repository)/Tests/NevodHostPostgreSQLTests/Support/cutting_proxy.py"
        (pid, pipe) = try Command.spawn(["python3", "-B", script, folder.path, server.folder, mark, when])
        socket = "\(folder.path)/.s.PGSQL.5432"
        #expect(LineReader(pipe).next() == "ready")
    }

    func stop() {
        kill(pid, SIGKILL)
        Command.wait(for: pid)
        close(pipe)
        unlink(socket)
    }
}

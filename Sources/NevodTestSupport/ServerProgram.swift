import Glibc

/// A server that takes its port from its configuration, started on a free port. Stops with this object.
package final class ConfiguredServer: Sendable {
    package let port: Int
    private let pid: pid_t
    private let pipe: Int32

    /// - Parameter arguments: returns the command line for a port.
    package static func start(_ arguments: @escaping @Sendable (_ port: Int) throws -> [String]) async throws -> ConfiguredServer
    {
        try await onOwnThread { try ConfiguredServer(arguments) }
    }

    private init(_ arguments: (_ port: Int) throws -> [String]) throws {
        for _ in 0..<5 {
            let port = try Self.freePort()
            let (pid, pipe) = try Command.spawn(arguments(port), quiet: true)
            if Self.listens(on: port, pid) {
                (self.port, self.pid, self.pipe) = (port, pid, pipe)
                return
            }
            kill(pid, SIGKILL)
            Command.wait(for: pid)
            close(pipe)
        }
        throw Command.Failure(description: "\(try arguments(0)[0]) didn't start")
    }

    /// Repeats the signal: a server may miss one that arrives just before it waits for a connection, as Tinyproxy does.
    deinit {
        var isEnded = false
        for _ in 0..<50 where !isEnded {
            kill(pid, SIGTERM)
            isEnded = Command.hasEnded(pid, within: .milliseconds(100))
        }
        if !isEnded {
            kill(pid, SIGKILL)
            Command.wait(for: pid)
        }
        close(pipe)
    }

    private static func freePort() throws -> Int {
        let output = try Command.python("import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1])")
        guard let port = output.first.flatMap({ Int($0) }) else { throw Command.Failure(description: "no port") }
        return port
    }

    /// Waits until the port accepts a connection; false if the program ended first.
    private static func listens(on port: Int, _ pid: pid_t) -> Bool {
        let end = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < end, kill(pid, 0) == 0 {
            if Loopback.accepts(UInt16(port)) { return true }
            // Polls, because a program doesn't announce that it listens.
            usleep(10_000)
        }
        return false
    }
}

/// A Python server from the folder Probes. It uses other projects' code to check the requests of a probe. Stops with this object.
package final class ProbeServer: Sendable {
    /// One URL for each listener.
    package let urls: [String]
    package var url: String { urls[0] }
    private let pid: pid_t
    private let pipe: Int32

    package static func start(_ name: String, _ arguments: [String] = []) async throws -> ProbeServer {
        try await onOwnThread { try ProbeServer(name, arguments) }
    }

    private init(_ name: String, _ arguments: [String]) throws {
        // Debian's own Python, because the libraries that check are Debian packages.
        (pid, pipe) = try Command.spawn(
            ["/usr/bin/python3", "-B", "\(repository)/Tests/NevodHostTests/Probes/\(name)_server.py"] + arguments, quiet: true)
        urls = (LineReader(pipe).next() ?? "").split(separator: " ").map(String.init)
        guard urls.first?.hasPrefix("http") == true else { throw Command.Failure(description: "\(name) didn't start") }
    }

    deinit {
        kill(pid, SIGTERM)
        Command.wait(for: pid)
        close(pipe)
    }
}

import Glibc

/// A server that takes its port from its configuration, started on a free one. Stops with this object.
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

    /// Repeats the signal: a server that is about to wait for a connection when it arrives may go on waiting, as Tinyproxy does.
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
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let end = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < end, kill(pid, 0) == 0 {
            let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            defer { close(probe) }
            let isConnected = withUnsafeBytes(of: &address) { bytes in
                guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
                return connect(probe, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
            if isConnected { return true }
            // Polled: a program does not announce that it listens.
            usleep(10_000)
        }
        return false
    }
}

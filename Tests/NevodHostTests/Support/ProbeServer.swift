internal import Glibc

/// A server of Probes, in Python: code of others checks what a probe sent. Ends with this object.
final class ProbeServer: Sendable {
    /// One for each of its listeners.
    let urls: [String]
    var url: String { urls[0] }
    private let pid: pid_t
    private let pipe: Int32

    static func start(_ name: String, _ arguments: [String] = []) async throws -> ProbeServer {
        try await onOwnThread { try ProbeServer(name, arguments) }
    }

    private init(_ name: String, _ arguments: [String]) throws {
        // Debian's own Python: the libraries that judge are its packages.
        (pid, pipe) = try Command.spawn(
            ["/usr/bin/python3", "-B", "\(repository)/Tests/NevodHostTests/Probes/\(name)_server.py"] + arguments, quiet: true)
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(pipe, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        urls = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
        guard urls.first?.hasPrefix("http") == true else { throw Command.Failure(description: "\(name) didn't start") }
    }

    deinit {
        kill(pid, SIGTERM)
        Command.wait(for: pid)
        close(pipe)
    }
}

/// A server that takes its port from a configuration: started on one that is free.
final class ConfiguredServer: Sendable {
    let port: Int
    private let pid: pid_t
    private let pipe: Int32

    /// - Parameter arguments: of the program, for a port.
    static func start(_ arguments: @escaping @Sendable (_ port: Int) throws -> [String]) async throws -> ConfiguredServer {
        try await onOwnThread { try ConfiguredServer(arguments) }
    }

    private init(_ arguments: (_ port: Int) throws -> [String]) throws {
        for _ in 0..<5 {
            let port = try Self.freePort()
            let (pid, pipe) = try Command.spawn(arguments(port), quiet: true)
            if Self.answers(on: port, pid) {
                (self.port, self.pid, self.pipe) = (port, pid, pipe)
                return
            }
            kill(pid, SIGKILL)
            Command.wait(for: pid)
            close(pipe)
        }
        throw Command.Failure(description: "\(try arguments(0)[0]) didn't start")
    }

    deinit {
        kill(pid, SIGTERM)
        Command.wait(for: pid)
        close(pipe)
    }

    private static func freePort() throws -> Int {
        let output = try Command.python("import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1])")
        guard let port = output.first.flatMap({ Int($0) }) else { throw Command.Failure(description: "no port") }
        return port
    }

    /// Waits until somebody listens, or the program has ended.
    private static func answers(on port: Int, _ pid: pid_t) -> Bool {
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
            // Nothing tells when somebody begins to listen: asked again, until they do.
            usleep(10_000)
        }
        return false
    }
}

/// Waits for what blocks without holding a thread of Swift's pool, which other tests need.
private func onOwnThread<Success: Sendable>(_ body: @escaping @Sendable () throws -> Success) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
        onThread { continuation.resume(with: Result { try body() }) }
    }
}

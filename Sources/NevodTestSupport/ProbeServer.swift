import Glibc

/// A server of the folder Probes, in Python, where other projects' code checks what a probe sent. Stops with this object.
package final class ProbeServer: Sendable {
    /// One for each of its listeners.
    package let urls: [String]
    package var url: String { urls[0] }
    private let pid: pid_t
    private let pipe: Int32

    package static func start(_ name: String, _ arguments: [String] = []) async throws -> ProbeServer {
        try await onOwnThread { try ProbeServer(name, arguments) }
    }

    private init(_ name: String, _ arguments: [String]) throws {
        // Debian's own Python: the libraries that judge are its packages.
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

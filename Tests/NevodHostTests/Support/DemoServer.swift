internal import Foundation
internal import Glibc
import NevodHost
internal import NevodTestSupport

/// The verifying server of Examples, on its own port. Its clock may be ahead.
final class DemoServer: Sendable {
    static let key = "demo"
    static let secret = "a shared key that only tests know"

    /// A shared server for tests that don't read its log. Ends with this process (`--parent-pid`).
    static let shared = Result { try DemoServer() }

    let url: String
    private let folder: TemporaryFolder
    private let pid: pid_t

    /// Runs the script in the second argument, unchanged, with a clock that is ahead by the first argument.
    private static let launcher = """
        import runpy, sys, time
        ahead, now = float(sys.argv[1]), time.time
        time.time = lambda: now() + ahead
        del sys.argv[:2]
        runpy.run_path(sys.argv[0], run_name="__main__")
        """

    /// - Parameters:
    ///   - ahead: how far its clock is ahead, in seconds.
    ///   - secret: the key with which it verifies.
    init(ahead: Int = 0, secret: String = DemoServer.secret) throws {
        folder = try TemporaryFolder()
        let (pid, pipe) = try Command.spawn(
            [
                "python3", "-c", Self.launcher, "\(ahead)", "\(repository)/Examples/demo-server/hmac_server.py", "--log",
                "\(folder.path)/log", "--parent-pid", "\(getpid())",
            ],
            environment: ["PATH=\(getenv("PATH").map { String(cString: $0) } ?? "/usr/bin")", "DEMO_SECRET=\(secret)"],
            quiet: true)
        defer { close(pipe) }
        self.pid = pid
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(pipe, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        guard let word = String(decoding: line, as: UTF8.self).split(separator: " ").last, word.hasPrefix("http") else {
            throw Command.Failure(description: "the demo server didn't start")
        }
        url = String(word)
    }

    deinit {
        kill(pid, SIGTERM)
        Command.wait(for: pid)
    }

    struct Entry: Decodable {
        let method: String
        let target: String
        let headers: [[String]]
        let verified: Bool?
        let clientPort: Int
    }

    /// The requests received so far.
    func log() throws -> [Entry] {
        try contents(of: "\(folder.path)/log").split(separator: UInt8(ascii: "\n")).map {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return try decoder.decode(Entry.self, from: Data($0))
        }
    }
}

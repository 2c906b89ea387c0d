import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The example's backend in a separate process, and its `/admin`. Stops with this object.
///
/// URLSession sends the requests, so that no part of the library comes between a test and its judge.
final class Backend: Sendable {
    static let email = "ada@example.com"
    static let password = "correct horse"
    static let key = "a key of 32 bytes, for the tests."
    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The base URL of the API.
    let url: URL
    private let origin: URL
    private let process: Process

    init() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-B", Self.folder.appending(path: "backend/shredmate_server.py").path, "--parent-pid",
            "\(ProcessInfo.processInfo.processIdentifier)",
        ]
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["DEMO_SECRET": Self.password, "SHREDMATE_KEY": Self.key], uniquingKeysWith: { $1 })
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        var line = Data()
        while line.last != UInt8(ascii: "\n"), let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty {
            line += byte
        }
        let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard let origin = words.last.flatMap({ URL(string: String($0)) }), origin.scheme == "http" else {
            process.terminate()
            throw Failure(description: "the backend didn't start; scripts/install-peers installs what it needs")
        }
        self.process = process
        self.origin = origin
        url = origin.appending(path: "api/v1")
    }

    deinit {
        // Threads of Swift's pool block SIGTERM, and their children inherit that.
        kill(process.processIdentifier, SIGKILL)
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The requests since the backend started or was last told to forget, and its counts.
    struct Seen: Codable, Sendable {
        struct Request: Codable, Sendable {
            struct File: Codable, Sendable {
                let name: String
                let type: String
                let size: Int
                let sha256: String
            }

            var method: String
            var path: String
            var bearer: String?
            /// Nil if the connection was closed without a response.
            var status: Int?
            var clock: Double
            var file: File?
        }

        var requests: [Request]
        var refreshes: Int
        var reuses: Int
        var logins: Int

        /// The requests of one endpoint, by its path below the API's.
        func of(_ method: String, _ path: String) -> [Request] {
            requests.filter { $0.method == method && $0.path == "/api/v1" + path }
        }
    }

    func seen() async throws -> Seen {
        try JSONDecoder().decode(Seen.self, from: await ask("GET", "seen"))
    }

    /// Lets every access token expire. Refresh tokens stay valid.
    func expireTokens() async throws { _ = try await ask("POST", "expire") }

    /// Ends every session.
    func revokeSessions() async throws { _ = try await ask("POST", "revoke") }

    /// Sets the lifetime of future access tokens.
    func setLife(seconds: Int) async throws { _ = try await ask("POST", "life/\(seconds)") }

    /// Holds that many requests with a bearer until all of them have arrived.
    func gather(_ count: Int) async throws { _ = try await ask("POST", "gather/\(count)") }

    func forget() async throws { _ = try await ask("POST", "forget") }

    enum Mode: String, CaseIterable {
        case normal, unavailable, closed
    }

    func setRefresh(_ mode: Mode) async throws { _ = try await ask("POST", "refresh/\(mode)") }

    func setNetwork(_ mode: Mode) async throws { _ = try await ask("POST", "network/\(mode)") }

    private func ask(_ method: String, _ what: String) async throws -> Data {
        var request = URLRequest(url: origin.appending(path: "admin/\(what)"), timeoutInterval: 60)
        request.httpMethod = method
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let status = (response as? HTTPURLResponse)?.statusCode, (200..<300).contains(status) else {
            throw Failure(description: "the backend refused \(method) /admin/\(what)")
        }
        return data
    }
}

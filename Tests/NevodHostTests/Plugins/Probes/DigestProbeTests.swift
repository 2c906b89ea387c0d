import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// HTTP Digest as a plugin of 300 lines. httpbin checks its response, and Apache also checks its nonce count.
struct DigestProbeTests {
    /// A path without escapes, because httpbin compares with the decoded path.
    private static func provider(
        _ username: String = "ali", _ password: String = "sesame", isMutual: Bool = false,
        observer: NetworkProvider.Observer? = nil
    ) throws -> NetworkProvider {
        let instance = try TestPlugin.digest.get().scheme().makeInstance(
            settings: [
                "username": .text(username), "password": .secret(Secret(copying: Array(password.utf8))),
                "mutual": .text("\(isMutual)"),
            ])
        let session = SchemeSession(instance, storage: InMemoryStorage())
        return NetworkProvider(
            config: NetworkConfig(), session: CurlSession(), interceptor: session.interceptor, observer: observer)
    }

    private struct Use: Hashable {
        let nonce: String
        let count: Int
    }

    /// The credentials that httpbin received, and its response statuses.
    private static func seen(_ server: ProbeServer) async throws -> [(use: Use, status: String)] {
        let response = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.get, "\(server.url)/seen"))
        let json = String(decoding: try await response.body.collect(), as: UTF8.self)
        let rows = try Command.python(
            "import json, sys\nfor n, c, s in json.loads(sys.argv[1]): print(n, int(c, 16), s)", [json])
        return try rows.map { row in
            let parts = row.split(separator: " ").map(String.init)
            return (Use(nonce: parts[0], count: try #require(Int(parts[1]))), parts[2])
        }
    }

    @Test(arguments: ["MD5", "SHA-256"])
    func `httpbin accepts the response, and one challenge serves later requests`(algorithm: String) async throws {
        let server = try await ProbeServer.start("digest")
        let provider = try Self.provider()
        for _ in 0..<3 {
            let response = try await provider.send(
                HTTPRequest(.get, "\(server.url)/digest-auth/auth/ali/sesame/\(algorithm)"))
            #expect(response.status == 200)
        }
        let seen = try await Self.seen(server)
        #expect(seen.map(\.status) == ["200", "200", "200"])
        #expect(seen.map(\.use.count) == [1, 2, 3])
        #expect(Set(seen.map(\.use.nonce)).count == 1)
    }

    @Test(arguments: ["MD5", "SHA-256"])
    func `httpbin accepts auth-int, which covers the body`(algorithm: String) async throws {
        let server = try await ProbeServer.start("digest")
        let url = "\(server.url)/digest-auth/auth-int/ali/sesame/\(algorithm)"
        let provider = try Self.provider()
        #expect(try await provider.send(HTTPRequest(.get, url)).status == 200)
        // httpbin also reads a GET's body (and serves no other method here).
        #expect(try await provider.send(HTTPRequest(.get, url, body: .bytes(Array("a body".utf8)))).status == 200)
        let body = HTTPBody.stream(.of([Array("streamed".utf8)], length: 8))
        let error = await #expect(throws: NetworkError.self) { try await provider.send(HTTPRequest(.get, url, body: body)) }
        #expect(error?.description.contains("auth-int can't cover a streamed body") == true)
    }

    @Test func `A wrong password is asked for once`() async throws {
        let server = try await ProbeServer.start("digest")
        let response = try await Self.provider("ali", "wrong").send(
            HTTPRequest(.get, "\(server.url)/digest-auth/auth/ali/sesame/SHA-256"))
        #expect(response.status == 401)
        #expect(try await Self.seen(server).map(\.status) == ["401"])
    }

    @Test func `100 concurrent requests on one nonce each have a count of their own`() async throws {
        let server = try await ProbeServer.start("digest")
        let provider = try Self.provider()
        let url = "\(server.url)/digest-auth/auth/ali/sesame/SHA-256"
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await provider.send(HTTPRequest(.get, url)).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 100))
        let uses = try await Self.seen(server).map(\.use)
        #expect(Set(uses).count == 100)
        #expect(Set(uses.map(\.count)) == Set(1...100))
    }

    // MARK: Apache

    /// mod_auth_digest under two paths: /counted, where each count must be the next, and /once, where a nonce serves one request.
    private final class Apache: Sendable {
        static let username = "ali \"baba\""
        static let password = "open sesame"
        private let server: ConfiguredServer
        private let folder: TemporaryFolder

        init() async throws {
            let folder = try TemporaryFolder()
            self.folder = folder
            let site = folder.makeFolder("site")
            for part in ["counted", "once"] {
                _ = folder.makeFolder("site/\(part)")
                try folder.write("site/\(part)/file", "the file\n".utf8)
            }
            let line = try Command.python(
                "import hashlib, sys; print(sys.argv[1] + hashlib.md5((sys.argv[1] + sys.argv[2]).encode()).hexdigest())",
                ["\(Self.username):here:", Self.password])[0]
            let users = try folder.write("users", "\(line)\n".utf8)
            server = try await ConfiguredServer.start { port in
                let modules = ["mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_digest"]
                    .map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n")
                func location(_ path: String, _ rule: String) -> String {
                    """
                    <Location /\(path)>
                    AuthType Digest
                    AuthName here
                    AuthUserFile \(users)
                    AuthDigestQop auth
                    \(rule)
                    Require valid-user
                    </Location>
                    """
                }
                // Apache doesn't serve as root, and only the owner can read the tests' folder.
                let configuration = """
                    ServerName localhost
                    Listen 127.0.0.1:\(port)
                    PidFile \(folder.path)/pid
                    ErrorLog \(folder.path)/error
                    DefaultRuntimeDir \(folder.path)
                    Mutex file:\(folder.path)
                    DocumentRoot \(site)
                    StartServers 1
                    ServerLimit 1
                    \(modules)
                    <Directory \(site)>
                    Require all granted
                    </Directory>
                    \(location("counted", "AuthDigestNcCheck On"))
                    \(location("once", "AuthDigestNonceLifetime 0"))
                    """
                return [
                    "/usr/sbin/apache2", "-X", "-f", try folder.write("configuration", "\(configuration)\n".utf8),
                ]
            }
        }

        func url(_ target: String) -> String { "http://127.0.0.1:\(server.port)\(target)" }
    }

    @Test func `Apache, which requires consecutive counts, accepts twenty requests on one nonce`() async throws {
        let apache = try await Apache()
        let sent = Collected<HTTPRequest>()
        let provider = try Self.provider(Apache.username, Apache.password) { sent.append($0) }
        for index in 0..<20 {
            let response = try await provider.send(HTTPRequest(.get, apache.url("/counted/file?q=\(index)%2F&r")))
            #expect(response.status == 200)
        }
        #expect(sent.values.count == 21)
    }

    @Test func `A nonce that has gone stale is replaced, and the request sent again`() async throws {
        let apache = try await Apache()
        let sent = Collected<String>()
        let provider = try Self.provider(Apache.username, Apache.password) { sent.append($0.headers["Authorization"] ?? "") }
        for _ in 0..<3 {
            let response = try await provider.send(HTTPRequest(.get, apache.url("/once/file")))
            #expect(response.status == 200)
        }
        // Sent: no credentials and then a response to the challenge; then twice, a spent nonce and then a response with a new
        // one.
        #expect(sent.values.map(\.isEmpty) == [true, false, false, false, false, false])
        #expect(sent.values.map { $0.contains("nc=00000001") } == [false, true, false, true, false, true])
        let nonces = sent.values.compactMap { $0.split(separator: ", ").first { $0.hasPrefix("nonce=") } }
        #expect(Set(nonces).count == 3)
    }

    @Test func `Apache proves that it knows the password; a server that doesn't is refused`() async throws {
        let apache = try await Apache()
        let provider = try Self.provider(Apache.username, Apache.password, isMutual: true)
        for _ in 0..<3 {
            let response = try await provider.send(HTTPRequest(.get, apache.url("/counted/file")))
            #expect(String(decoding: try await response.body.collect(), as: UTF8.self) == "the file\n")
        }
        // httpbin checks the client but doesn't prove anything about itself.
        let server = try await ProbeServer.start("digest")
        let other = try Self.provider(isMutual: true)
        let error = await #expect(throws: NetworkError.self) {
            try await other.send(HTTPRequest(.get, "\(server.url)/digest-auth/auth/ali/sesame/MD5"))
        }
        #expect(error?.description.contains("Authentication-Info the server doesn't prove that it knows the password") == true)
    }
}

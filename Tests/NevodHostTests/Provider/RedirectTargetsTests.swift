import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Follows hostile Locations with each redirect status. None traps, none takes a credential to another origin, and each either is
/// an error or leads where libcurl would go.
struct RedirectTargetsTests {
    private static let secret = "Zq8vXw7yKp3Rt5Lm"
    private static let host = "api.example.com"

    static let targets: [[UInt8]] =
        [
            // Invalid hosts.
            "http://[:]/", "http://[::::]/", "http://[:::::]/", "http://[1:2:3]/", "http://[12345::]/", "http://[1.2.3.4:]/",
            "http://a\u{FF1A}80/", "http://[v1.a]/", "http://[::1%25eth0]/", "http://[::1", "http://[]/", "http://[::1]x/",
            "http://h:0/", "http://h:65536/", "http://h:99999999999999999999/", "http://h:-1/", "http://h:80:81/", "http://./a",
            // Other spellings of addresses and names.
            "http://127.1/", "http://2130706433/a?b", "http://0x7f000001/", "http://0177.0.0.1/", "http://\u{FF11}27.1/",
            "http://[0:0:0:0:0:0:0:1]/", "http://[::ffff:127.0.0.1]/", "http://API.example.com:80/c", "https://api.example.com/c",
            // Origins that look like this one and aren't, or the other way round.
            "//evil.example/x", "//\u{301}evil.example/", "/\\evil.example/", "\\\\evil.example\\", "http:\\\\evil.example/",
            "http://api.example.com@evil.example/", "http://api.example.com\u{FF20}evil.example/",
            "http://api.example.com%2eevil.example/", "http://api.example.com.evil.example/",
            // Other schemes.
            "javascript:alert(1)", "file:///etc/passwd", "ftp://api.example.com/",
            // References.
            "../../../../etc?d=e", "?y=2", "./a:b/../c", "/caf\u{E9}/x y?q= z",
            // Credentials that are echoed back.
            "http://evil.example/?x=1&key=\(secret)", "//evil.example/?key=\(secret)&x",
        ].map { Array($0.utf8) } + [Array("http://evil.example/caf".utf8) + [0xE9] + Array("?q=".utf8) + [0xFF]]

    private func start(_ method: HTTPMethod, _ path: String = "/a/b") throws -> (unauthorized: HTTPRequest, sent: HTTPRequest) {
        var unauthorized = try HTTPRequest(
            method, "http://\(Self.host)\(path)?x=1", body: method == .post ? .bytes(Array("a=b".utf8)) : .none)
        try unauthorized.setHeader("Authorization", "Basic \(Self.secret)")
        try unauthorized.setHeader("Cookie", "sid=\(Self.secret)")
        var sent = unauthorized
        sent.provenance = .token("T")
        try sent.setHeader("X-Plain", Self.secret)
        sent.appendQueryItem("key".utf8, Self.secret.utf8)
        return (unauthorized, sent)
    }

    /// Resolves dot segments and decodes escapes, which gives the same result for two spellings of a path.
    private func meaning(_ path: String) -> [UInt8] {
        PercentEncoding.decoded(URLReference.withoutDots(path).utf8, plusIsSpace: false)
    }

    @Test func `There are 46 targets`() {
        #expect(Self.targets.count == 46)
    }

    @Test(arguments: targets, [301, 302, 303, 307, 308])
    func `A Location leads where libcurl goes, or nowhere`(location: [UInt8], status: Int) throws {
        let (unauthorized, sent) = try start(.post)
        var headers = HTTPHeaders()
        Array("Location".utf8).withUnsafeBufferPointer { name in
            location.withUnsafeBufferPointer { headers.add(name, $0, by: .host) }
        }
        let response = HTTPResponse(version: .http11, status: status, reason: "", headers: headers, body: .bytes([]))
        var chain = RedirectChain(.follow(limit: 10))
        let text = String(decoding: location, as: UTF8.self)
        let next: HTTPRequest
        do throws(RedirectError) {
            guard case .follow(let request) = try chain.next(after: response, to: unauthorized, sent: sent) else {
                Issue.record("\(text) is no redirect")
                return
            }
            next = request
        } catch {
            #expect(!"\(error)".contains(Self.secret))
            return
        }
        guard let judge = CurlURL(unauthorized.url), judge.follow(location) else {
            Issue.record("libcurl refuses \(text), and this goes to \(next.origin)")
            return
        }
        let host = judge.host
        #expect(next.origin.scheme.rawValue == judge.scheme, "\(text)")
        let ascii = IDN.ascii(host) ?? host
        #expect(next.origin.host == URLHost.ipv6(host.utf8) ?? URLHost.ipv4(ascii) ?? ascii, "\(text)")
        #expect(judge.port == Int(next.origin.port), "\(text)")
        let parts = next.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        #expect(meaning(String(parts[0])) == meaning(judge.path), "\(text)")
        // A repeated credential is left out, and libcurl writes a space as a plus.
        let query = parts.count > 1 ? PercentEncoding.decoded(parts[1].utf8) : []
        let judged = judge.query.split(separator: "&", omittingEmptySubsequences: false).filter { !$0.contains(Self.secret) }
        #expect(query == PercentEncoding.decoded(judged.joined(separator: "&").utf8), "\(text)")
        if next.origin != unauthorized.origin {
            #expect(!chain.mayCarryCredentials)
            #expect(!"\(next.url) \(Array(next.headers))".contains(Self.secret), "\(text)")
        }
    }

    private struct Key: TokenModel {
        static let phase = TokenPhase.signature
        func authorize(_ request: inout HTTPRequest) throws {
            try request.setHeader("X-Plain", RedirectTargetsTests.secret)
            request.appendQueryItem("key".utf8, RedirectTargetsTests.secret.utf8)
        }
        func encode() throws -> [UInt8] { [] }
        static func decode(from data: [UInt8]) throws -> Key { Key() }
    }

    @Test func `No request takes a credential to another origin`() async throws {
        let heads = Collected<String>()
        // The proxy of every host.
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                heads.append(request.head)
                let target = request.head.split(separator: " ")[1]
                let path = target.split(separator: "/")
                let isStart = path.count > 3 && path[1] == Self.host[...] && path[2] == "start"
                let numbers = isStart ? path[3].prefix { $0 != "?" }.split(separator: "-").compactMap { Int($0) } : []
                if numbers.count == 2, Self.targets.indices.contains(numbers[0]) {
                    connection.write(
                        Array("HTTP/1.1 \(numbers[1]) X\r\nContent-Length: 0\r\nLocation: ".utf8) + Self.targets[numbers[0]]
                            + Array("\r\n\r\n".utf8))
                    continue
                }
                let status = request.head.hasPrefix("CONNECT") ? "403 No" : "200 OK"
                connection.write("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let session = CurlSession(CurlSession.Configuration(proxy: ProxySettings(url: server.url)))
        let provider = NetworkProvider(session: session, signer: Key())
        var (led, refused) = (0, 0)
        for status in [301, 302, 303, 307, 308] {
            for index in Self.targets.indices {
                let request = try start(.get, "/start/\(index)-\(status)").unauthorized
                do throws(NetworkError) {
                    _ = try await provider.send(request, RequestOptions(timeout: .seconds(30)))
                    led += 1
                } catch {
                    #expect(!"\(error)".contains(Self.secret))
                    refused += 1
                }
            }
        }
        #expect(led > 50 && refused > 50, "\(led), \(refused)")
        let foreign = heads.values.filter { head in
            let target = head.split(separator: " ")[1]
            return target != "http://\(Self.host)" && !target.hasPrefix("http://\(Self.host)/")
        }
        #expect(foreign.count > 50)
        for head in foreign { #expect(!head.contains(Self.secret), "\(head)") }
    }
}

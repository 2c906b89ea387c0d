import NevodTestSupport
import Testing

@testable import NevodHost

/// A private response (RFC 9111 §5.2.2.7) reaches only its user, whatever line a server uses to distinguish users.
@Suite(.eachCache) struct CachePrivacyTests {
    private static let lines = ["Cache-Control: private, max-age=60"]

    /// Responds with the request's number and the lines that the client wrote.
    private func fixture(_ lines: [String] = Self.lines) throws -> CacheFixture {
        try CacheFixture { number, _, _ in CannedResponse(lines: lines, body: "\(number)") }
    }

    private static let names = [
        "X-JWT", "X-User", "X-User-Id", "X-Remote-User", "X-Forwarded-User", "X-Account", "X-Tenant", "X-Org", "X-Who",
        "X-Identity",
        "X-Login", "X-Ticket", "X-Bearer", "X-SID", "X-PIN", "X-Sub", "X-Principal", "X-Client-Cert", "X-SSL-Client-DN",
        "X-Device",
        "X-Customer", "X-Impersonate", "DPoP", "From", "Sec-Who", "Client-Id", "Forwarded", "User-Agent", "Accept-Language", "Q",
    ]

    @Test(arguments: names)
    func `A private response is kept apart by every line that the caller wrote`(_ name: String) async throws {
        let fixture = try fixture()
        for _ in 0..<2 {
            #expect(try await fixture.get("/me", ["\(name): alice"]) == "1")
            #expect(try await fixture.get("/me", ["\(name): bob"]) == "2")
            #expect(try await fixture.get("/me") == "3")
        }
        #expect(fixture.requests.count == 3)
    }

    private struct Tagging: RequestInterceptor {
        let user: String
        func adapt(_ exchange: inout Exchange) async throws { try exchange.request.setHeader("X-Tag", user) }
    }

    @Test func `A private response is kept apart by every line that an interceptor wrote`() async throws {
        let fixture = try fixture()
        func get(_ user: String) async throws -> String {
            let provider = NetworkProvider(session: fixture.session, interceptor: Tagging(user: user))
            return String(
                decoding: try await provider.send(HTTPRequest(.get, fixture.server.url)).body.collect(), as: UTF8.self)
        }
        for _ in 0..<2 {
            #expect(try await get("alice") == "1")
            #expect(try await get("bob") == "2")
        }
    }

    /// Names of all kinds, including the cache's own lines and content negotiation.
    @Test func `Requests share a private response exactly if their lines are equal`() async throws {
        let fixture = try fixture()
        var random = SeededRandom(seed: 7)
        let names = ["X-A", "x-a", "B", "Accept", "Cache-Control", "Pragma", "Cookie", "Sec-Z", "Etag"]
        let values = ["1", "2", "no-transform", "max-age=60", "user=1", "", "1, 2"]
        var known: [[String]: String] = [:]
        for _ in 0..<300 {
            let lines = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                "\(names.randomElement(using: &random) ?? ""): \(values.randomElement(using: &random) ?? "")"
            }
            let body = try await fixture.get("/", lines)
            let identity = lines.filter { !Self.isObeyed($0) }.map { $0.lowercased() }.sorted()
            for (other, response) in known where response == body { #expect(other == identity, "\(other) and \(identity)") }
            known[identity] = body
        }
        #expect(fixture.requests.count < 300)
    }

    /// Whether the cache obeys a line, and no server can distinguish users by it.
    private static func isObeyed(_ line: String) -> Bool {
        ["Cache-Control: ", "Pragma: "].contains { name in
            ["no-transform", "max-age=60", ""].contains { line == name + $0 }
        }
    }

    @Test func `Directives that the cache obeys don't keep users apart, and other text in their lines does`() async throws {
        let fixture = try fixture()
        #expect(try await fixture.get() == "1")
        #expect(try await fixture.get("/", ["Cache-Control: max-age=50, max-stale"]) == "1")
        #expect(try await fixture.get("/", ["Cache-Control: max-age=50", "Pragma: no-cache"]) == "1")
        #expect(try await fixture.get("/", ["Cache-Control: user=alice"]) == "2")
        #expect(try await fixture.get("/", ["Cache-Control: user=bob"]) == "3")
        #expect(try await fixture.get("/", ["Cache-Control: no-transform=\"alice\""]) == "4")
    }

    @Test func `A response that is not private is selected by Vary alone`() async throws {
        let fixture = try fixture(["Cache-Control: max-age=60"])
        #expect(try await fixture.get("/", ["X-Trace: 1"]) == "1")
        #expect(try await fixture.get("/", ["X-Trace: 2"]) == "1")
    }

    @Test func `A request that says whose it is shares private responses with this owner's others`() async throws {
        let fixture = try fixture()
        func get(_ owner: String?, _ lines: [String]) async throws -> String {
            var options = TransferOptions(timeout: .seconds(30))
            options.cacheOwner = owner
            let response = try await fixture.session.send(fixture.request(.get, "/", lines), options)
            return String(decoding: try await response.body.collect(), as: UTF8.self)
        }
        for _ in 0..<2 {
            #expect(try await get("alice", ["X-Trace: 1"]) == "1")
            #expect(try await get("alice", ["X-Trace: 2"]) == "1")
            #expect(try await get("bob", ["X-Trace: 1"]) == "2")
            // Credentials and nameless requests stay apart.
            #expect(try await get("alice", ["Authorization: Bearer x"]) == "3")
            #expect(try await get(nil, ["X-Trace: 1"]) == "4")
        }
    }

    @Test func `A response that has become private is not served to others any more`() async throws {
        let fixture = try CacheFixture { number, head, _ in
            let control = number == 1 ? "max-age=60" : "private, max-age=60"
            return CannedResponse(lines: ["Cache-Control: \(control)"], body: "\(number)")
        }
        #expect(try await fixture.get("/", ["X-User: alice"]) == "1")
        #expect(try await fixture.get("/", ["X-User: alice", "Cache-Control: no-cache"]) == "2")
        #expect(try await fixture.get("/", ["X-User: bob"]) == "3")
        #expect(try await fixture.get("/", ["X-User: alice"]) == "2")
    }

    @Test func `A proxy's credential keeps private responses apart`() throws {
        var request = try HTTPRequest(.get, "http://h/p")
        let none = try #require(CacheKey(request, .ofProcess))
        request.proxyAuthorization = "Basic YTpi"
        let some = try #require(CacheKey(request, .ofProcess))
        #expect(none.user != some.user)
        #expect(none.user == none.partition)
    }
}

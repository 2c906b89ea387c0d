import NevodTestSupport
import Testing

@testable import NevodHost

/// A user never gets another user's response, even though this server omits `Vary` and marks everything as public.
@Suite(.eachCache) struct CachePartitionTests {
    private static let lines = ["Cache-Control: public, max-age=60"]

    private func fixture() throws -> CacheFixture {
        try CacheFixture { number, head, _ in CannedResponse(lines: Self.lines, body: "\(number) of \(Self.user(in: head))") }
    }

    private static func user(in head: String) -> String {
        ["alice", "bob"].first { head.contains($0) } ?? "nobody"
    }

    private func text(
        _ fixture: CacheFixture, _ interceptor: any RequestInterceptor, _ path: String = "/me"
    ) async throws
        -> String
    {
        let provider = NetworkProvider(session: fixture.session, interceptor: interceptor)
        let response = try await provider.send(HTTPRequest(.get, fixture.server.url + path))
        return String(decoding: try await response.body.collect(), as: UTF8.self)
    }

    /// Returns the responses to two users and to a request without a token, twice each.
    private func check<Token: TokenModel>(_ token: (String) -> Token) async throws {
        let fixture = try fixture()
        for _ in 0..<2 {
            #expect(try await text(fixture, TokenInterceptor(token("alice"))) == "1 of alice")
            #expect(try await text(fixture, TokenInterceptor(token("bob"))) == "2 of bob")
            #expect(try await text(fixture, InterceptorChain([])) == "3 of nobody")
        }
        #expect(fixture.requests.count == 3)
        #expect(await fixture.store.count == 3)
    }

    private struct CookieToken: TokenModel {
        let value: String
        func authorize(_ request: inout HTTPRequest) throws { try request.setCookie("sid", value) }
        func encode() throws -> [UInt8] { Array(value.utf8) }
        static func decode(from data: [UInt8]) throws -> CookieToken { CookieToken(value: String(decoding: data, as: UTF8.self)) }
    }

    @Test func `Responses are kept apart by bearer token`() async throws { try await check { Token(value: $0) } }
    @Test func `Responses are kept apart by a token in a custom header`() async throws {
        try await check { APIKeyToken(apiKey: $0, headerName: "X-Who") }
    }
    @Test func `Responses are kept apart by a token in the query`() async throws {
        try await check { QueryAPIKeyToken(apiKey: $0, paramName: "who") }
    }
    @Test func `Responses are kept apart by cookie`() async throws { try await check { CookieToken(value: $0) } }

    @Test(arguments: ["Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "x-session-id", "X-CSRF-TOKEN", "X-JWT"])
    func `Responses are kept apart by a credential that the caller wrote`(_ name: String) async throws {
        let fixture = try fixture()
        for _ in 0..<2 {
            #expect(try await fixture.get("/me", ["\(name): alice"]) == "1 of alice")
            #expect(try await fixture.get("/me", ["\(name): bob"]) == "2 of bob")
        }
        #expect(fixture.requests.count == 2)
    }

    @Test func `The same credential in another place is another partition`() async throws {
        let fixture = try fixture()
        #expect(try await fixture.get("/me", ["X-Key: ab"]) == "1 of nobody")
        #expect(try await fixture.get("/me", ["X-Keya: b"]) == "2 of nobody")
        #expect(try await fixture.get("/me", ["X-Key: a", "X-Key: b"]) == "3 of nobody")
        #expect(try await text(fixture, TokenInterceptor(QueryAPIKeyToken(apiKey: "ab", paramName: "x-key"))) == "4 of nobody")
    }

    @Test func `One user's change invalidates every user's responses, wherever the token is`() async throws {
        let interceptors: [(String) -> any RequestInterceptor] = [
            { TokenInterceptor(Token(value: $0)) }, { TokenInterceptor(QueryAPIKeyToken(apiKey: $0)) },
        ]
        for interceptor in interceptors {
            let fixture = try fixture()
            #expect(try await text(fixture, interceptor("alice"), "/list") == "1 of alice")
            let provider = NetworkProvider(session: fixture.session, interceptor: interceptor("bob"))
            _ = try await provider.send(HTTPRequest(.delete, "\(fixture.server.url)/list"))
            #expect(try await text(fixture, interceptor("alice"), "/list") == "3 of alice")
        }
    }

    /// Dumps the cache like a debugger or a crash report would.
    @Test func `No stored entry holds the credential`() throws {
        var request = try HTTPRequest(.get, "http://h/p")
        request.provenance = .token("T")
        try request.setHeader("X-Who", "the-known-secret")
        request.appendQueryItem("q".utf8, "the-known-secret".utf8)
        let key = try #require(CacheKey(request, .ofProcess))
        var headers = HTTPHeaders()
        headers.add("Vary", "X-Who", by: .host)
        let vary = try #require(VaryKey(of: headers, for: request, .ofProcess))
        var dumped = ""
        dump((key, vary), to: &dumped)
        #expect(!dumped.contains("the-known-secret"))
        #expect(!dumped.contains("116, 104, 101, 45"))
        #expect(vary.matches(request, .ofProcess))
        try request.setHeader("X-Who", "another-secret..")
        #expect(!vary.matches(request, .ofProcess))
        #expect(CacheKey(request, .ofProcess) != key)
    }

    @Test func `The digest of a list differs from that of its joined parts`() throws {
        func digest(_ parts: [String]) -> KeyedDigest? {
            guard var maker = KeyedDigest.Builder(.ofProcess) else { return nil }
            for part in parts { maker.add(part) }
            return maker.finish()
        }
        #expect(digest(["a", "b"]) == digest(["a", "b"]))
        let all = try [[], [""], ["ab"], ["a", "b"], ["a", "b", ""], ["b", "a"]].map { try #require(digest($0)) }
        #expect(Set(all).count == all.count)
        #expect(!all.contains(.empty))
    }
}

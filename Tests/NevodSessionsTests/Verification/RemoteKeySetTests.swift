import Foundation
import NevodHost
import NevodJWT
import NevodSessions
import NevodTestSupport
import Testing

struct RemoteKeySetTests {
    private let server: ScriptedServer
    private let clock = HandClock()
    private let logger = CollectedLines()
    private let verifier = JWTVerifier(algorithms: [.es256], issuer: SignedTokens.issuer, audience: "shop", leeway: .zero)

    init() throws {
        server = try ScriptedServer(.init(body: SignedTokens.keySet))
    }

    private func keySet(_ change: (inout RemoteKeySet.Settings) -> Void = { _ in }) -> RemoteKeySet {
        var settings = RemoteKeySet.Settings()
        change(&settings)
        return RemoteKeySet(url: "\(server.url)/keys?tenant=secret", settings: settings, logger: logger, clock: clock.host)
    }

    private func verify(_ token: String, _ keys: RemoteKeySet) async throws -> JWTClaims {
        try await verifier.verify(token, with: keys, at: Double(SignedTokens.time))
    }

    /// How many of these tokens are rejected because they have no key.
    private func refusals(_ range: Range<Int>, _ keys: RemoteKeySet) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            for number in range {
                group.addTask {
                    do {
                        _ = try await verify(SignedTokens.unsigned(keyID: "random-\(number)"), keys)
                        return false
                    } catch {
                        return (error as? JWTError)?.code == .noKey
                    }
                }
            }
            return await group.reduce(0) { $1 ? $0 + 1 : $0 }
        }
    }

    @Test func `Verifications at once share one fetch, without a credential`() async throws {
        let keys = keySet()
        let gate = server.hold()
        async let subjects = withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<200 { group.addTask { try await verify(SignedTokens.one, keys).subject } }
            return try await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(await eventually { server.count == 1 })
        gate.set()
        #expect(try await subjects == Array(repeating: "ada", count: 200))
        #expect(server.count == 1)
        #expect(server.requests[0].head.lowercased().contains("authorization") == false)
    }

    @Test func `Keys that may not become stale are still used as long as they are young`() async throws {
        let keys = keySet { $0.maximumStaleness = .zero }
        #expect(try await verify(SignedTokens.one, keys).subject == "ada")
        clock.advance(299)
        #expect(try await verify(SignedTokens.one, keys).subject == "ada")
        #expect(server.count == 1)
        server.respond(.init(status: 500))
        clock.advance(2)
        await #expect(throws: RemoteKeyError.self) { try await verify(SignedTokens.one, keys) }
    }

    @Test func `The issuer's max-age and ETag are obeyed`() async throws {
        server.respond(.init(headers: ["Cache-Control: max-age=600", "ETag: \"1\""], body: SignedTokens.keySet))
        let keys = keySet()
        _ = try await verify(SignedTokens.one, keys)
        for _ in 0..<5 {
            clock.advance(119)
            _ = try await verify(SignedTokens.one, keys)
        }
        #expect(server.count == 1)
        clock.advance(310)
        server.respond(.init(status: 304, headers: ["Cache-Control: max-age=600", "ETag: \"1\""]))
        _ = try await verify(SignedTokens.one, keys)
        #expect(server.count == 2 && server.requests[1].head.contains("If-None-Match: \"1\""))
        clock.advance(301)
        _ = try await verify(SignedTokens.one, keys)
        #expect(server.count == 2)
    }

    @Test(arguments: ["no-store", "no-cache", "max-age=0", "max-age=1"])
    func `Keys are kept for 5 minutes, however short the issuer wants it`(directive: String) async throws {
        server.respond(.init(headers: ["Cache-Control: \(directive)"], body: SignedTokens.keySet))
        let keys = keySet()
        for count in 1...3 {
            for _ in 0..<10 { _ = try await verify(SignedTokens.one, keys) }
            clock.advance(299)
            _ = try await verify(SignedTokens.one, keys)
            #expect(server.count == count)
            clock.advance(1)
        }
    }

    @Test func `Keys are fetched again after a day, however long the issuer calls them fresh`() async throws {
        server.respond(.init(headers: ["Cache-Control: max-age=31536000"], body: SignedTokens.keySet))
        let keys = keySet()
        for _ in 0..<24 {
            _ = try await verify(SignedTokens.one, keys)
            clock.advance(3599)
        }
        #expect(server.count == 1)
        clock.advance(100)
        _ = try await verify(SignedTokens.one, keys)
        #expect(server.count == 2)
    }

    @Test func `A key that the issuer has withdrawn is no longer accepted`() async throws {
        let keys = keySet()
        server.respond(.init(body: SignedTokens.bothKeys))
        _ = try await verify(SignedTokens.two, keys)
        server.respond(.init(body: SignedTokens.keySet))
        clock.advance(300)
        let error = await #expect(throws: JWTError.self) { try await verify(SignedTokens.two, keys) }
        #expect(error?.code == .noKey)
        _ = try await verify(SignedTokens.one, keys)
    }

    @Test func `A new key is found at once`() async throws {
        server.respond(.init(headers: ["Cache-Control: max-age=86400"], body: SignedTokens.keySet))
        let keys = keySet()
        _ = try await verify(SignedTokens.one, keys)
        clock.advance(10)
        server.respond(.init(headers: ["Cache-Control: max-age=86400"], body: SignedTokens.bothKeys))
        #expect(try await verify(SignedTokens.two, keys).subject == "ada")
        #expect(server.count == 2)
    }

    @Test func `1000 tokens with unknown keys cause one fetch in each interval`() async throws {
        server.respond(.init(headers: ["Cache-Control: max-age=86400"], body: SignedTokens.keySet))
        let keys = keySet()
        #expect(await refusals(0..<1000, keys) == 1000)
        #expect(server.count == 1)
        for round in 1...3 {
            clock.advance(300)
            #expect(await refusals(round * 1000..<(round + 1) * 1000, keys) == 1000)
            #expect(server.count == 1 + round)
            clock.advance(299)
            #expect(await refusals(0..<1000, keys) == 1000)
            _ = try await verify(SignedTokens.one, keys)
            #expect(server.count == 1 + round)
            clock.advance(1)
        }
    }

    @Test func `A token that arrives during a fetch waits for it`() async throws {
        let keys = keySet()
        _ = try await verify(SignedTokens.one, keys)
        server.respond(.init(body: SignedTokens.bothKeys))
        let gate = server.hold()
        async let stranger: Int = refusals(0..<1, keys)
        #expect(await eventually { server.count == 2 })
        let reads = clock.reads
        async let two = verify(SignedTokens.two, keys).subject
        // By now it has decided to wait.
        #expect(await eventually { clock.reads > reads })
        gate.set()
        #expect(try await two == "ada")
        #expect(await stranger == 1 && server.count == 2)
    }

    @Test func `A token with a new key that joins another's fetch has one of its own if that one doesn't find the key`()
        async throws
    {
        let keys = keySet()
        _ = try await verify(SignedTokens.one, keys)
        clock.advance(300)
        let gate = server.hold()
        async let one = verify(SignedTokens.one, keys).subject
        // The response lacks the new key.
        #expect(await eventually { server.count == 2 })
        server.respond(.init(body: SignedTokens.bothKeys))
        let reads = clock.reads
        async let two = verify(SignedTokens.two, keys).subject
        #expect(await eventually { clock.reads > reads })
        gate.set()
        #expect(try await [one, two] == ["ada", "ada"])
        #expect(server.count == 3)
    }

    @Test func `Known keys outlive failures for a day, and the issuer is asked ever less`() async throws {
        let keys = keySet()
        _ = try await verify(SignedTokens.one, keys)
        server.respond(.init(status: 500, body: "secret of the server"))
        var failures = 0
        for _ in 0..<86_400 / 100 {
            clock.advance(100)
            _ = try await verify(SignedTokens.one, keys)
            failures += 1
        }
        // At most one request for each step, in the background after the first failure.
        #expect(await eventually { logger.lines.count == server.count - 1 })
        #expect(server.count <= failures)
        clock.advance(301)
        let error = await #expect(throws: RemoteKeyError.self) { try await verify(SignedTokens.one, keys) }
        #expect(error?.code == .unavailable && "\(String(describing: error))".contains("status 500"))
        #expect(logger.lines.allSatisfy { $0.hasPrefix("warning") && !$0.contains("secret") })
        server.respond(.init(body: SignedTokens.keySet))
        clock.advance(60)
        _ = try await verify(SignedTokens.one, keys)
    }

    @Test func `Without known keys, a failing issuer is asked after 1, 2, 4 … seconds`() async throws {
        server.respond(.init(status: 502))
        let keys = keySet()
        for (count, pause) in [1, 2, 4, 8, 16, 32, 60, 60].enumerated() {
            for _ in 0..<20 { await #expect(throws: RemoteKeyError.self) { try await verify(SignedTokens.one, keys) } }
            #expect(server.count == count + 1)
            clock.advance(Int64(pause))
        }
        server.respond(.init(body: SignedTokens.keySet))
        _ = try await verify(SignedTokens.one, keys)
    }

    @Test func `A pause that the issuer asks for is kept, up to 5 minutes`() async throws {
        let keys = keySet()
        for (asked, pause) in [("100", 100), ("86400", 300)] {
            server.respond(.init(status: 503, headers: ["Retry-After: \(asked)"]))
            let count = server.count
            await #expect(throws: RemoteKeyError.self) { try await verify(SignedTokens.one, keys) }
            clock.advance(Int64(pause) - 1)
            await #expect(throws: RemoteKeyError.self) { try await verify(SignedTokens.one, keys) }
            #expect(server.count == count + 1)
            clock.advance(1)
        }
        server.respond(.init(body: SignedTokens.keySet))
        _ = try await verify(SignedTokens.one, keys)
    }

    private static let secretKey = #"{"keys":[{"kty":"oct","kid":"one","k":"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE"}]}"#

    private static let unusable: [(body: String, code: RemoteKeyError.Code)] = {
        let many = Array(repeating: SignedTokens.oneKey, count: 101).joined(separator: ",")
        let filler = String(repeating: "x", count: 256 << 10)
        return [
            ("<html>sign in</html>", .unreadable), ("", .unreadable), ("[]", .unreadable), (#"{"keys":1}"#, .unreadable),
            (#"{"keys":[]}"#, .empty), (#"{"keys":[{"kty":"new"}]}"#, .empty), (secretKey, .empty),
            (#"{"keys":[\#(many)]}"#, .unreadable), (#"{"keys":[\#(SignedTokens.oneKey)],"x":"\#(filler)"}"#, .unreadable),
        ]
    }()

    @Test(arguments: unusable)
    func `A set that can't be used doesn't replace a good one, and is reported`(body: String, code: RemoteKeyError.Code)
        async throws
    {
        let keys = keySet()
        _ = try await verify(SignedTokens.one, keys)
        server.respond(.init(body: body))
        clock.advance(300)
        #expect(try await verify(SignedTokens.one, keys).subject == "ada")
        #expect(server.count == 2 && logger.lines.count == 1)
        let fresh = keySet()
        let error = await #expect(throws: RemoteKeyError.self) { try await verify(SignedTokens.one, fresh) }
        #expect(error?.code == code && error?.url == "\(server.url)/keys")
    }

    @Test func `A redirect is followed within the origin, and to no other`() async throws {
        server.respond(.init(status: 302, headers: ["Location: /moved"]), at: "/keys?tenant=secret")
        server.respond(.init(body: SignedTokens.keySet), at: "/moved")
        _ = try await verify(SignedTokens.one, keySet())
        let other = try ScriptedServer(.init(body: SignedTokens.keySet))
        server.respond(.init(status: 302, headers: ["Location: \(other.url)/moved"]), at: "/keys?tenant=secret")
        let error = await #expect(throws: RemoteKeyError.self) { try await verify(SignedTokens.one, keySet()) }
        #expect(error?.code == .unavailable && "\(String(describing: error))".contains("another origin"))
        #expect(other.count == 0)
    }

    @Test(arguments: [
        "http://login.example.com/keys", "http://127.0.0.1.example.com/keys", "ftp://127.0.0.1/keys", "keys.json", "",
    ])
    func `Keys come over TLS or from this machine`(url: String) async throws {
        let keys = RemoteKeySet(url: url, clock: clock.host)
        let error = await #expect(throws: RemoteKeyError.self) { try await verify(SignedTokens.one, keys) }
        #expect(error?.code == .url)
    }

    @Test func `A caller that is cancelled doesn't end the fetch of others`() async throws {
        let keys = keySet()
        let gate = server.hold()
        let cancelled = Task { try await verify(SignedTokens.one, keys) }
        #expect(await eventually { server.count == 1 })
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        async let other = verify(SignedTokens.one, keys).subject
        gate.set()
        #expect(try await other == "ada")
        #expect(server.count == 1)
    }

    @Test func `A clock that was set back stops nothing`() async throws {
        let keys = keySet()
        _ = try await verify(SignedTokens.one, keys)
        server.respond(.init(status: 500))
        clock.advance(300)
        _ = try await verify(SignedTokens.one, keys)
        clock.advance(-100_000_000)
        server.respond(.init(body: SignedTokens.bothKeys))
        _ = try await verify(SignedTokens.two, keys)
    }

    // The issuer's metadata.

    private func metadata(_ issuer: String, _ keys: String) -> ScriptedServer.Response {
        .init(body: #"{"issuer":"\#(issuer)","jwks_uri":"\#(keys)"}"#)
    }

    @Test(arguments: ["", "/tenant"]) func `An issuer's metadata names its keys`(path: String) async throws {
        let keys = try ScriptedServer(.init(body: SignedTokens.keySet))
        let issuer = server.url + path
        server.respond(.init(status: 404))
        server.respond(metadata(issuer, "\(keys.url)/of"), at: "\(path)/.well-known/openid-configuration")
        _ = try await verify(SignedTokens.one, RemoteKeySet(issuer: issuer, clock: clock.host))
        #expect(keys.requests.map(\.line) == ["GET /of HTTP/1.1"] && server.count == 1)
        // RFC 8414 §3.1 puts it before the issuer's path.
        server.respond(.init(status: 404), at: "\(path)/.well-known/openid-configuration")
        server.respond(metadata(issuer, "\(keys.url)/of"), at: "/.well-known/oauth-authorization-server\(path)")
        _ = try await verify(SignedTokens.one, RemoteKeySet(issuer: issuer, clock: clock.host))
        #expect(keys.count == 2 && server.count == 3)
    }

    @Test func `Metadata of another issuer, or with unsafe keys, is refused`() async throws {
        let cases: [(body: String, code: RemoteKeyError.Code)] = [
            (metadata("\(server.url)/", "\(server.url)/k").body, .metadata),
            (metadata("https://evil.example", "\(server.url)/k").body, .metadata), (#"{"jwks_uri":"x"}"#, .metadata),
            (#"{"issuer":"\#(server.url)"}"#, .metadata), ("<html>", .metadata),
            (#"{"issuer":"\#(server.url)","issuer":"\#(server.url)","jwks_uri":"\#(server.url)/k"}"#, .metadata),
            (metadata(server.url, "http://login.example.com/k").body, .url),
            (metadata(server.url, "file:///etc/keys").body, .url),
        ]
        for (body, code) in cases {
            server.respond(.init(body: SignedTokens.keySet))
            server.respond(.init(body: body), at: "/.well-known/openid-configuration")
            let keys = RemoteKeySet(issuer: server.url, clock: clock.host)
            let error = await #expect(throws: RemoteKeyError.self) { try await verify(SignedTokens.one, keys) }
            #expect(error?.code == code, "\(body)")
        }
    }
}

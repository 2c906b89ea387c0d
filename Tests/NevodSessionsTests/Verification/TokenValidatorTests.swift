import Foundation
import NevodHost
import NevodJWT
import NevodSessions
import NevodSupport
import NevodTestSupport
import Testing

struct TokenValidatorTests {
    private let server: ScriptedServer
    private let clock = HandClock()
    private let verifier = JWTVerifier(algorithms: [.es256], issuer: SignedTokens.issuer, audience: "shop", leeway: .zero)

    init() throws {
        server = try ScriptedServer(.init(body: #"{"active":true,"scope":"orders:read orders:write","rate_limit":17}"#))
    }

    private func tokens(_ access: String) -> AuthTokens { AuthTokens(accessToken: access, refreshToken: "r") }

    private func validator(introspecting: Bool = false) throws -> TokenValidator {
        TokenValidator(
            verifier: verifier, keys: try JSONWebKeySet(json: Array(SignedTokens.keySet.utf8)),
            introspection: introspecting
                ? TokenIntrospection(endpoint: "\(server.url)/introspect", authentication: .bearer(Secret("s"))) : nil,
            clock: clock.host)
    }

    @Test func `A valid token has its claims and its expiry`() async throws {
        let validation = try await validator().validate(tokens(SignedTokens.one))
        #expect(!validation.isExpired && validation.isValid && validation.claims.subject == "ada")
        #expect(validation.expiresAt == Date(timeIntervalSince1970: Double(SignedTokens.time + 3600)))
        #expect(validation.serverValidation == nil)
    }

    @Test func `An expired token says so, if it meets all other rules`() async throws {
        clock.advance(3600)
        let validation = try await validator(introspecting: true).validate(tokens(SignedTokens.one))
        #expect(validation.isExpired && !validation.isValid && validation.claims.subject == "ada")
        // The server gets no request.
        #expect(server.count == 0)
        let cases: [(token: String, code: JWTError.Code)] = [
            (SignedTokens.foreign, .audience), (SignedTokens.two, .noKey), (SignedTokens.one.dropLast(4) + "AAAA", .signature),
            (SignedTokens.unsigned(keyID: "one", claims: #"{"exp":1}"#), .signature), ("opaque", .malformed),
        ]
        for (token, code) in cases {
            let error = await #expect(throws: JWTError.self) { try await validator().validate(tokens(token)) }
            #expect(error?.code == code)
        }
    }

    @Test func `The server knows whether a token was revoked, and what it permits`() async throws {
        let validation = try await validator(introspecting: true).validate(tokens(SignedTokens.one))
        let answer = try #require(validation.serverValidation)
        #expect(answer.isValid && validation.isValid && answer.permissions == ["orders:read", "orders:write"])
        #expect(answer.response.members[int: "rate_limit"] == 17)
        server.respond(.init(body: #"{"active":false}"#))
        let revoked = try await validator(introspecting: true).validate(tokens(SignedTokens.one))
        #expect(revoked.serverValidation?.isValid == false && !revoked.isValid && !revoked.isExpired)
        server.respond(.init(status: 500))
        await #expect(throws: NetworkError.self) { try await validator(introspecting: true).validate(tokens(SignedTokens.one)) }
    }

    // Renewals.

    /// Issues a list's tokens, one for each renewal.
    private struct Issuer: TokenProvider {
        let tokens = SessionTokens(storage: InMemoryStorage())
        let issued: [String]
        let calls = Collected<String>()

        func refresh(_ tokens: AuthTokens) async throws -> AuthTokens {
            calls.append(tokens.refreshToken)
            return AuthTokens(
                accessToken: issued[min(calls.values.count, issued.count) - 1], refreshToken: "r\(calls.values.count)")
        }
    }

    private func client(_ provider: some TokenProvider) async throws -> (AuthenticatingHTTPClient, Collected<Int>) {
        let ends = Collected<Int>()
        try await provider.tokens.storage.save(AuthTokens(accessToken: "old", refreshToken: "r0"))
        let api = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                let status = request.head.contains("Bearer old") ? 401 : 200
                connection.write("HTTP/1.1 \(status) Status\r\nContent-Length: 2\r\n\r\n{}")
            }
        }
        let client = AuthenticatingHTTPClient(
            baseURL: api.url, tokenProvider: provider, retryPolicy: .none,
            interceptors: [Holding(server: api)], onSessionInvalidated: { ends.append(1) })
        return (client, ends)
    }

    /// Keeps the server alive as long as the client.
    private struct Holding: RequestInterceptor {
        let server: RawServer
    }

    private let endpoint = Endpoint<EmptyResponse>.get("/", auth: .bearerToken)

    @Test func `Renewed tokens that pass are stored`() async throws {
        let provider = VerifyingTokenProvider(Issuer(issued: [SignedTokens.one]), validator: try validator())
        let (client, _) = try await client(provider)
        _ = try await client.send(endpoint)
        #expect(try await provider.tokens.storage.load()?.accessToken == SignedTokens.one)
    }

    @Test(arguments: [SignedTokens.foreign, SignedTokens.unsigned(keyID: "one"), "opaque", ""])
    func `Renewed tokens that don't pass are not stored, and the session goes on`(bad: String) async throws {
        let issuer = Issuer(issued: [bad, SignedTokens.one])
        let provider = VerifyingTokenProvider(issuer, validator: try validator())
        let (client, ends) = try await client(provider)
        let error = await #expect(throws: NetworkError.self) { try await client.send(endpoint) }
        guard case .authenticationFailed(let reason) = error else { throw error ?? NetworkError.unauthorized }
        #expect(reason is JWTError && (bad.isEmpty || !"\(reason)".contains(bad)))
        #expect(try await provider.tokens.storage.load()?.accessToken == "old" && ends.values.isEmpty)
        // The next renewal is a new one.
        _ = try await client.send(endpoint)
        #expect(issuer.calls.values == ["r0", "r0"])
    }

    @Test func `Without keys, nothing is exchanged`() async throws {
        server.respond(.init(status: 500))
        let issuer = Issuer(issued: [SignedTokens.one])
        let keys = RemoteKeySet(url: "\(server.url)/keys", clock: clock.host)
        let provider = VerifyingTokenProvider(
            issuer, validator: TokenValidator(verifier: verifier, keys: keys, clock: clock.host))
        let (client, ends) = try await client(provider)
        await #expect(throws: NetworkError.authenticationFailed) { try await client.send(endpoint) }
        #expect(issuer.calls.values.isEmpty && ends.values.isEmpty)
        server.respond(.init(body: SignedTokens.keySet))
        clock.advance(1)
        _ = try await client.send(endpoint)
        #expect(issuer.calls.values == ["r0"])
    }

    @Test func `Tokens of a key that isn't known yet are verified again, and not exchanged twice`() async throws {
        server.respond(.init(body: SignedTokens.keySet))
        let issuer = Issuer(issued: [SignedTokens.two])
        let keys = RemoteKeySet(url: "\(server.url)/keys", clock: clock.host)
        let provider = VerifyingTokenProvider(
            issuer, validator: TokenValidator(verifier: verifier, keys: keys, clock: clock.host))
        let (client, _) = try await client(provider)
        await #expect(throws: NetworkError.authenticationFailed) { try await client.send(endpoint) }
        #expect(try await provider.tokens.storage.load()?.accessToken == "old")
        // The issuer publishes the key late.
        server.respond(.init(body: SignedTokens.bothKeys))
        clock.advance(300)
        // The session's tokens, whichever of its clients asks.
        let other = VerifyingTokenProvider(issuer, validator: TokenValidator(verifier: verifier, keys: keys, clock: clock.host))
        let (another, _) = try await self.client(other)
        _ = try await another.send(endpoint)
        #expect(try await provider.tokens.storage.load()?.refreshToken == "r1")
        #expect(issuer.calls.values == ["r0"])
    }

    @Test func `Tokens that expired before they could be verified are renewed themselves`() async throws {
        server.respond(.init(body: SignedTokens.keySet))
        // The first has an unknown key. The second has expired by this clock, which may be wrong.
        let issuer = Issuer(issued: [SignedTokens.two, SignedTokens.one, SignedTokens.lastingOne])
        let keys = RemoteKeySet(url: "\(server.url)/keys", clock: clock.host)
        let provider = VerifyingTokenProvider(
            issuer, validator: TokenValidator(verifier: verifier, keys: keys, clock: clock.host))
        let (client, ends) = try await client(provider)
        await #expect(throws: NetworkError.authenticationFailed) { try await client.send(endpoint) }
        server.respond(.init(body: SignedTokens.bothKeys))
        clock.advance(3600)
        await #expect(throws: NetworkError.authenticationFailed) { try await client.send(endpoint) }
        _ = try await client.send(endpoint)
        #expect(try await provider.tokens.storage.load()?.accessToken == SignedTokens.lastingOne)
        // Never the spent refresh token.
        #expect(issuer.calls.values == ["r0", "r1", "r2"] && ends.values.isEmpty)
    }
}

import NevodJWT
import NevodSupport
import NevodTestSupport
import Testing

struct JSONWebKeySetTests {
    private static let point =
        #""crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0""#
    private static let example = PublishedExamplesTests.examples[2]

    private func set(_ json: String) throws -> JSONWebKeySet { try JSONWebKeySet(json: Array(json.utf8)) }

    private func key(_ keyID: String?) throws -> JSONWebKey {
        let member = keyID.map { ",\"kid\":\"\($0)\"" } ?? ""
        return try JSONWebKey(json: Array("{\"kty\":\"EC\",\(Self.point)\(member)}".utf8))
    }

    @Test func `Keys that can't be used are skipped`() throws {
        let set = try set(
            "{\"keys\":[{\"kty\":\"EC\",\(Self.point),\"kid\":\"a\"},{\"kty\":\"ML-DSA\"},{},7,null,\"k\",[],[{\"kty\":\"EC\"}],"
                + "{\"kty\":\"EC\",\(Self.point),\"use\":\"enc\"},{\"kty\":\"oct\",\"k\":\"c2hvcnQ\"},{\"kty\":\"EC\",\(Self.point),\"kid\":\"\\u0062\"}],"
                + "\"other\":[]}")
        #expect(set.keys.map(\.keyID) == ["a", "b"] && set.skipped == 9)
        #expect(try self.set(#" { "keys" : [ ] } "#).keys.isEmpty)
        #expect(try self.set(#"{"k\u0065ys":[{}]}"#).skipped == 1)
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"keys":{}}"#, #"{"keys":null}"#, #"{"Keys":[]}"#, #"{"keys":[]"#, #"{"keys":[],"keys":[]}"#,
        #"{"keys":[{"kty":"oct","kty":"oct"}]}"#, #"{"keys":[1e400]}"#,
    ]) func `A text that is no key set is refused`(_ json: String) {
        #expect(code { try set(json) } == .malformed)
    }

    @Test func `A set has at most 256 keys and 1 MiB`() throws {
        func keys(_ count: Int) -> String { "{\"keys\":[\((0..<count).map { _ in "{}" }.joined(separator: ","))]}" }
        #expect(try set(keys(256)).skipped == 256)
        #expect(code { try set(keys(257)) } == .tooLarge)
        #expect(code { try set("{\"keys\":[],\"pad\":\"\(String(repeating: "x", count: 1 << 20))\"}") } == .tooLarge)
    }

    @Test func `The key identifier chooses the key, if both have one`() throws {
        let (a, b, none) = (try key("a"), try key("b"), try key(nil))
        let set = JSONWebKeySet([a, b, none])
        func keyIDs(_ header: String) throws -> [String?] {
            set.keys(for: try JSONWebToken(MadeToken.text(header: header, claims: "{}")).header).map(\.keyID)
        }
        #expect(try keyIDs(#"{"alg":"ES256","kid":"b"}"#) == ["b", nil])
        #expect(try keyIDs(#"{"alg":"ES256","kid":"c"}"#) == [nil])
        #expect(try keyIDs(#"{"alg":"ES256"}"#) == ["a", "b", nil])
        #expect(try keyIDs(#"{"alg":"HS256","kid":"b"}"#) == [] && keyIDs(#"{"alg":"none"}"#) == [])
        // The signature isn't checked if no key has the token's identifier.
        let token = MadeToken.text(header: #"{"alg":"ES256","kid":"c"}"#, claims: "{}")
        #expect(code { try JWTVerifier.lenient(.es256).verify(token, with: [a, b], at: 0) } == .noKey)
        #expect(code { try JWTVerifier.lenient(.es256).verify(token, with: [a, b, none], at: 0) } == .signature)
        #expect(code { try JWTVerifier.lenient(.es256).verify(token, with: [], at: 0) } == .noKey)
    }

    /// Debian's openssl makes the other keys.
    @Test func `Of keys that fit, the first 16 are tried`() throws {
        let other = try JSONWebKey(
            pem: Command.output([
                "sh", "-c", "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 | openssl pkey -pubout",
            ]))
        let (right, verifier) = (try key(nil), JWTVerifier.lenient(.es256))
        let others = [JSONWebKey](repeating: other, count: 15)
        _ = try verifier.verifiedPayload(Self.example.token, with: others + [right])
        #expect(code { try verifier.verifiedPayload(Self.example.token, with: others + [other, right]) } == .signature)
        // Unsuitable keys don't count.
        let secret = try JSONWebKey(secret: Secret(String(repeating: "k", count: 64)))
        _ = try verifier.verifiedPayload(Self.example.token, with: [JSONWebKey](repeating: secret, count: 100) + [right])
    }

    private final class Asked: JWTKeySource {
        let set: JSONWebKeySet
        let count = Locked(0)
        let failure: (any Error)?

        init(_ keys: [JSONWebKey], failure: (any Error)? = nil) {
            set = JSONWebKeySet(keys)
            self.failure = failure
        }

        func keys(for header: JWTHeader) async throws -> [JSONWebKey] {
            count.withLock { $0 += 1 }
            if let failure { throw failure }
            return set.keys(for: header)
        }
    }

    private struct Unreachable: Error {}

    @Test func `A source is asked for keys only by an acceptable header`() async throws {
        let source = Asked([try key(nil)])
        var verifier = JWTVerifier(algorithms: [.es256], type: nil, requiredClaims: [])
        let claims = try await verifier.verify(Self.example.token, with: source, at: 0)
        #expect(claims.issuer == "joe" && source.count.withLock { $0 } == 1)
        #expect(try await verifier.verify(Secret(Self.example.token), with: source, at: 0) == claims)
        #expect(try await verifier.verify(Self.example.token, with: JSONWebKeySet([key(nil)]), at: 0) == claims)
        #expect(source.count.withLock { $0 } == 2)
        verifier.type = "at+jwt"
        for (token, code) in [
            (Self.example.token, JWTError.Code.type), ("a.b.c", .malformed),
            (MadeToken.text(header: #"{"alg":"none","typ":"at+jwt"}"#, claims: "{}"), .algorithm),
            (MadeToken.text(header: #"{"alg":"HS256","typ":"at+jwt"}"#, claims: "{}"), .algorithm),
            (MadeToken.text(header: #"{"alg":"ES256","typ":"at+jwt","crit":["x"]}"#, claims: "{}"), .critical),
        ] {
            await #expect { try await verifier.verify(token, with: source, at: 0) } throws: { ($0 as? JWTError)?.code == code }
        }
        #expect(source.count.withLock { $0 } == 2)
    }

    @Test func `The error of a source reaches the caller`() async throws {
        let source = Asked([try key(nil)], failure: Unreachable())
        await #expect(throws: Unreachable.self) {
            try await JWTVerifier.lenient(.es256).verify(Self.example.token, with: source, at: 0)
        }
    }
}

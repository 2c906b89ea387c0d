import NevodJWT
import NevodSupport
import Testing

struct JSONWebTokenTests {
    private let header = #"{"alg":"ES256","kid":"k1","typ":"JWT"}"#

    @Test func `A token's header and claims are read without its signature being verified`() throws {
        let token = try JSONWebToken(MadeToken.text(header: header, claims: #"{"sub":"u1","admin":true}"#))
        #expect(token.header.algorithm == "ES256" && token.header.keyID == "k1" && token.header.type == "JWT")
        #expect(token.header.contentType == nil)
        #expect(token.unverifiedClaims.subject == "u1" && token.unverifiedClaims[boolean: "admin"] == true)
        #expect(try JSONWebToken(Secret(MadeToken.text(header: header, claims: #"{"sub":"u1","admin":true}"#))) == token)
    }

    @Test func `Neither claims nor the signature are printed`() throws {
        let text = MadeToken.text(header: header, claims: #"{"sub":"ada","secret-name":"x"}"#, signature: Array("s1gnature".utf8))
        let token = try JSONWebToken(text)
        var dumped = ""
        dump(token, to: &dumped)
        for shown in ["\(token)", token.debugDescription, "\(token.unverifiedClaims)", "\([token])", "\(token.header)", dumped] {
            for hidden in ["ada", "secret-name", "s1gnature", "k1"] { #expect(!shown.contains(hidden), "\(shown)") }
        }
        #expect("\(token)" == "JSONWebToken(JWTHeader(ES256), JWTClaims(2))")
        let unknown = try JSONWebToken(MadeToken.text(header: #"{"alg":"s3cret"}"#, claims: "{}"))
        #expect("\(unknown)" == "JSONWebToken(JWTHeader(an unknown algorithm), JWTClaims(0))")
    }

    @Test(arguments: [
        ("", JWTError.Code.malformed), ("a", .malformed), ("a.b", .malformed), ("..", .malformed), ("a.b.c.d", .malformed),
        ("a.b.c.d.e", .encrypted), ("a.b.c.d.e.f", .malformed), ("Bearer e30.e30.", .malformed), ("e30.e30.e30=", .malformed),
        // Five and six leftover bits.
        ("e30.e31.", .malformed), ("e30.e3.", .malformed), ("e30.e30.AB", .malformed),
        ("é.e30.", .malformed), ("e30\n.e30.", .malformed), ("e30+.e30.", .malformed),
    ]) func `A text of another form is refused`(_ text: String, _ expected: JWTError.Code) {
        #expect(code { try JSONWebToken(text) } == expected)
    }

    @Test func `A token of more than 64 KiB is refused, and one of 64 KiB is read`() throws {
        let empty = MadeToken.text(header: header, claims: #"{"pad":""}"#)
        for pad in (49_030..<49_100) {
            let text = MadeToken.text(header: header, claims: "{\"pad\":\"\(String(repeating: "x", count: pad))\"}")
            let isRead = code { try JSONWebToken(text) } == nil
            #expect(isRead == (text.utf8.count <= 65536), "\(text.utf8.count)")
        }
        #expect(code { try JSONWebToken(empty + String(repeating: "A", count: 65536)) } == .tooLarge)
    }

    @Test(arguments: [
        ("{}", JWTError.Code.malformed), (#"{"alg":1}"#, .malformed), (#"{"alg":null}"#, .malformed), ("[]", .malformed),
        ("", .malformed),
        (#"{"alg":"ES256","alg":"none"}"#, .malformed), (#"{"alg":"ES256","\u0061lg":"none"}"#, .malformed),
        (#"{"alg":"ES256","kid":1}"#, .malformed), (#"{"alg":"ES256","typ":[]}"#, .malformed),
        (#"{"alg":"ES256","cty":{}}"#, .malformed),
        (#"{"alg":"ES256","crit":["exp"]}"#, .critical), (#"{"alg":"ES256","crit":[]}"#, .critical),
        (#"{"alg":"ES256","crit":1}"#, .critical),
        (#"{"alg":"ES256","b64":false}"#, .critical), (#"{"alg":"ES256","b64":"true"}"#, .critical),
        (#"{"alg":"ES256","zip":"DEF"}"#, .nested), (#"{"alg":"dir","enc":"A128GCM"}"#, .encrypted),
        (#"{"alg":"ES256","cty":"JWT"}"#, .nested), (#"{"alg":"ES256","cty":"jwt"}"#, .nested),
        (#"{"alg":"ES256","cty":"Application/JWT"}"#, .nested),
    ]) func `A header is refused`(_ header: String, _ expected: JWTError.Code) {
        #expect(code { try JSONWebToken(MadeToken.text(header: header, claims: "{}")) } == expected, "\(header)")
    }

    @Test func `What could be misread as a refused parameter is read`() throws {
        for header in [
            #"{"alg":"ES256","b64":true}"#, #"{"alg":"ES256","cty":"application/example;part=\"1/2\""}"#,
            #"{"alg":"ES256","CRIT":["x"]}"#,
            #"{"alg":"ES256","in":{"crit":["x"],"enc":1}}"#, #"{"alg":"none"}"#,
            #"{"alg":"ES256","jwk":{"kty":"oct","k":"AA"},"jku":"https://example.com","x5u":7,"x5c":[]}"#,
        ] {
            _ = try JSONWebToken(MadeToken.text(header: header, claims: "{}"))
        }
    }

    @Test(arguments: [
        "", "[]", "1", "null", "\"text\"", "{", "{}{}", "{} x", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{\"a\":1 \"b\":2}",
        "{a:1}", "{'a':1}",
        "{\"a\":01}", "{\"a\":1e400}", "{\"a\":-1e400}", "{\"a\":NaN}", "{\"a\":Infinity}", "{\"a\":[1e999]}",
        "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udc00\\ud800\"}", "{\"\\ud800\":1}", "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}",
        "{\"a\":1,\"a\":1}", "{\"a\":1,\"\\u0061\":1}", "{\"b\":{\"a\":1,\"a\":1}}", "{\"b\":[{\"a\":1,\"a\":1}]}",
        "\u{FEFF}{}",
    ]) func `Claims are refused`(_ claims: String) {
        #expect(code { try JWTClaims(json: Array(claims.utf8)) } == .malformed, "\(claims)")
        #expect(code { try JSONWebToken(MadeToken.text(header: header, claims: claims)) } == .malformed, "\(claims)")
    }

    @Test func `Text that is not UTF-8 is refused, wherever it is`() {
        for bytes in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]] as [[UInt8]] {
            #expect(code { try JWTClaims(json: Array("{\"a\":\"".utf8) + bytes + Array("\"}".utf8)) } == .malformed)
            #expect(code { try JWTClaims(json: Array("{\"".utf8) + bytes + Array("\":1}".utf8)) } == .malformed)
        }
    }

    @Test func `A repeated name is found among many`() {
        for count in [1, 15, 16, 17, 400] {
            let members = (0..<count).map { "\"n\($0)\":\($0)" }
            #expect(code { try JWTClaims(json: Array("{\(members.joined(separator: ","))}".utf8)) } == nil)
            for repeated in [0, count / 2, count - 1] {
                let json = "{\((members + ["\"n\(repeated)\":0"]).joined(separator: ","))}"
                #expect(code { try JWTClaims(json: Array(json.utf8)) } == .malformed, "\(count) names, \(repeated)")
            }
        }
    }

    @Test func `Values are nested at most 32 deep`() {
        for (depth, isRead) in [(1, true), (31, true), (32, false), (20_000, false)] {
            for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
                let inner = open == "[" ? "" : "1"
                let value = String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)
                #expect((code { try JWTClaims(json: Array("{\"a\":\(value)}".utf8)) } == nil) == isRead, "\(depth) of \(open)")
            }
        }
    }
}

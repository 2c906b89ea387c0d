import NevodJWT
import NevodSupport
import Testing

struct JWTVerifierTests {
    private func claims(_ json: String) throws -> JWTClaims { try JWTClaims(json: Array(json.utf8)) }
    private let any = JWTVerifier(algorithms: [], leeway: .zero, requiredClaims: [])

    @Test func `Times are compared with the leeway, to the second`() throws {
        let claims = try claims(#"{"exp":1000,"nbf":500,"iat":400}"#)
        for (leeway, first, last) in [
            (Duration.zero, 500.0, 999.9), (.seconds(30), 470, 1029.9), (.milliseconds(500), 499.5, 1000.4),
        ] {
            var verifier = any
            verifier.leeway = leeway
            for seconds in [first, last] {
                #expect(code { try verifier.check(claims, at: seconds) } == nil, "\(leeway), \(seconds)")
            }
            #expect(code { try verifier.check(claims, at: first - 0.1) } == .notYetValid)
            #expect(code { try verifier.check(claims, at: last + 0.1) } == .expired)
        }
        #expect(JWTVerifier(algorithms: []).leeway == .seconds(30))
    }

    @Test func `A token issued in the future is not valid yet`() throws {
        #expect(code { try any.check(claims(#"{"iat":1001}"#), at: 1000) } == .notYetValid)
        #expect(code { try any.check(claims(#"{"iat":1000}"#), at: 1000) } == nil)
    }

    @Test func `A clock that shows no number accepts nothing with a time`() throws {
        for name in ["exp", "nbf", "iat"] {
            #expect(code { try any.check(claims("{\"\(name)\":1000}"), at: .nan) } != nil, "\(name)")
        }
        #expect(code { try any.check(claims(#"{"exp":1000}"#), at: .infinity) } == .expired)
        #expect(code { try any.check(claims(#"{"nbf":1000}"#), at: -.infinity) } == .notYetValid)
    }

    @Test func `A leeway at the bounds neither traps nor accepts everything`() throws {
        var verifier = any
        verifier.leeway = .seconds(-3600)
        #expect(code { try verifier.check(claims(#"{"exp":1000}"#), at: 999) } == nil)
        verifier.leeway = .seconds(Int64.max)
        #expect(code { try verifier.check(claims(#"{"exp":1000}"#), at: 1e12) } == nil)
        verifier.leeway = .seconds(Int64.min)
        #expect(code { try verifier.check(claims(#"{"exp":1000}"#), at: 1000) } == .expired)
    }

    @Test(arguments: ["exp", "nbf", "iat"]) func `A time that is none is refused`(_ name: String) throws {
        for value in ["\"1000\"", "null", "true", "[]", "{}", "-1", "1e300", "9007199254740994"] {
            #expect(code { try any.check(claims("{\"\(name)\":\(value)}"), at: 0) } == .claim, "\(name): \(value)")
        }
    }

    @Test func `Required claims must be there, whatever they are`() throws {
        #expect(code { try JWTVerifier(algorithms: []).check(claims("{}"), at: 0) } == .missingClaim)
        var verifier = any
        verifier.requiredClaims = ["scope", "client_id"]
        #expect(code { try verifier.check(claims(#"{"scope":null}"#), at: 0) } == .missingClaim)
        #expect(code { try verifier.check(claims(#"{"scope":null,"client_id":[]}"#), at: 0) } == nil)
        do {
            try verifier.check(claims("{}"), at: 0)
            Issue.record("accepted")
        } catch { #expect("\(error)" == "the claim client_id is missing") }
    }

    @Test func `The issuer is compared byte by byte`() throws {
        var verifier = any
        verifier.issuer = "https://é.example"
        #expect(code { try verifier.check(claims(#"{"iss":"https://é.example"}"#), at: 0) } == nil)
        for json in [
            #"{"iss":"https://e\u0301.example"}"#, #"{"iss":"https://É.example"}"#, #"{"iss":["https://é.example"]}"#, "{}",
            #"{"iss":null}"#,
        ] { #expect(code { try verifier.check(claims(json), at: 0) } == .issuer, "\(json)") }
        #expect(code { try any.check(claims(#"{"iss":7}"#), at: 0) } == .claim)
        #expect(code { try any.check(claims(#"{"iss":"any"}"#), at: 0) } == nil)
    }

    @Test func `The audience must be among those that the token names`() throws {
        var verifier = any
        verifier.audience = "orders"
        for json in [#"{"aud":"orders"}"#, #"{"aud":["billing","orders"]}"#] {
            #expect(code { try verifier.check(claims(json), at: 0) } == nil, "\(json)")
            // A token for a named audience is invalid for anyone else.
            #expect(code { try any.check(claims(json), at: 0) } == .audience, "\(json)")
        }
        for json in [
            "{}", #"{"aud":"Orders"}"#, #"{"aud":[]}"#, #"{"aud":["orders",1]}"#, #"{"aud":{"orders":1}}"#, #"{"aud":null}"#,
            #"{"aud":["orders2"]}"#, #"{"aud":[["orders"]]}"#,
        ] { #expect(code { try verifier.check(claims(json), at: 0) } == .audience, "\(json)") }
        #expect(code { try any.check(claims("{}"), at: 0) } == nil)
    }

    @Test func `A subject and an identifier are texts`() throws {
        for name in ["sub", "jti"] {
            #expect(code { try any.check(claims("{\"\(name)\":7}"), at: 0) } == .claim)
            #expect(code { try any.check(claims("{\"\(name)\":\"7\"}"), at: 0) } == nil)
        }
    }

    @Test func `The type is a media type, with or without application`() throws {
        let key = try JSONWebKey(secret: Secret(String(repeating: "k", count: 32)))
        func refusal(_ header: String, _ type: String?) -> JWTError.Code? {
            let verifier = JWTVerifier(algorithms: [.hs256], type: type)
            return code { try verifier.verify(MadeToken.text(header: header, claims: "{}"), with: [key], at: 0) }
        }
        for type in ["at+jwt", "AT+JWT", "application/at+jwt", "Application/At+Jwt"] {
            for expected in ["at+jwt", "application/at+jwt"] {
                #expect(refusal("{\"alg\":\"HS256\",\"typ\":\"\(type)\"}", expected) == .signature, "\(type), \(expected)")
            }
        }
        for type in ["JWT", "text/at+jwt", "application/x/at+jwt", "at+jwt ", ""] {
            #expect(refusal("{\"alg\":\"HS256\",\"typ\":\"\(type)\"}", "at+jwt") == .type, "\(type)")
        }
        // The prefix may be left out only if no other slash follows.
        #expect(refusal(#"{"alg":"HS256","typ":"application/x/at+jwt"}"#, "x/at+jwt") == .type)
        #expect(refusal(#"{"alg":"HS256"}"#, "at+jwt") == .type)
        #expect(refusal(#"{"alg":"HS256","typ":"any"}"#, nil) == .signature)
    }

    @Test func `Errors repeat nothing of a token`() throws {
        let secret = "s3cret"
        let key = try JSONWebKey(secret: Secret(String(repeating: "k", count: 32)))
        var verifier = JWTVerifier(algorithms: [.hs256], issuer: "i", audience: "a", type: "at+jwt")
        let headers = [
            "{\"alg\":\"\(secret)\"}", "{\"alg\":\"HS256\",\"typ\":\"\(secret)\"}", "{\"alg\":\"HS256\",\"kid\":\"\(secret)\"}",
            "{\"alg\":\"ES256\",\"typ\":\"at+jwt\",\"kid\":\"\(secret)\"}", "{\"\(secret)\":1}", "{\"\(secret)\"", "\(secret)",
            "{\"alg\":\"HS256\",\"crit\":[\"\(secret)\"]}",
        ]
        for (header, type) in headers.flatMap({ [($0, "at+jwt"), ($0, nil)] }) {
            verifier.type = type
            do {
                _ = try verifier.verify(MadeToken.text(header: header, claims: "{\"\(secret)\":1}"), with: [key], at: 0)
                Issue.record("accepted: \(header)")
            } catch { #expect(!"\(error)\(error.debugText)".contains(secret), "\(error)") }
        }
        for json in [
            "{\"iss\":\"\(secret)\"}", "{\"iss\":\"i\",\"aud\":\"\(secret)\"}", "{\"exp\":\"\(secret)\"}",
            "{\"sub\":[\"\(secret)\"]}",
        ] {
            var lenient = verifier
            lenient.requiredClaims = []
            do {
                try lenient.check(claims(json), at: 0)
                Issue.record("accepted: \(json)")
            } catch { #expect(!"\(error)\(error.debugText)".contains(secret), "\(error)") }
        }
    }
}

extension Error {
    /// The text that a debugger or `dump` shows.
    fileprivate var debugText: String { String(reflecting: self) }
}

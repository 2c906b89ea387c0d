import NevodJWT
import NevodSupport
import Testing

struct JWTClaimsTests {
    private func claims(_ json: String) throws -> JWTClaims { try JWTClaims(json: Array(json.utf8)) }

    @Test func `A claim is read by its type, and is nil by any other`() throws {
        let claims = try claims(
            #"{"text":"a\"\u20ac\ud83d\ude00é","whole":3600,"exact":3600.0,"part":1.5,"yes":true,"no":false,"nothing":null,"#
                + #""list":["a","b"],"mixed":["a",1],"object":{"in":[1]},"empty":[]}"#)
        #expect(claims[string: "text"] == "a\"€😀é")
        #expect(claims[int: "whole"] == 3600 && claims[int: "exact"] == 3600 && claims[int: "part"] == nil)
        #expect(claims[double: "whole"] == 3600 && claims[double: "part"] == 1.5)
        #expect(claims[boolean: "yes"] == true && claims[boolean: "no"] == false)
        #expect(claims[strings: "list"] == ["a", "b"] && claims[strings: "text"] == ["a\"€😀é"] && claims[strings: "empty"] == [])
        #expect(claims[strings: "mixed"] == nil)
        #expect(claims["object"]?["in"]?[0]?.integer == 1 && claims["nothing"] == .null && claims["missing"] == nil)
        for name in claims.names {
            #expect((claims[string: name] != nil) == (name == "text"))
            #expect((claims[int: name] != nil) == ["whole", "exact"].contains(name))
            #expect((claims[double: name] != nil) == ["whole", "exact", "part"].contains(name))
            #expect((claims[boolean: name] != nil) == ["yes", "no"].contains(name))
            #expect((claims[time: name] != nil) == ["whole", "exact", "part"].contains(name))
            #expect(claims.contains(name))
        }
        #expect(!claims.contains("missing") && claims[strings: "missing"] == nil && claims[time: "missing"] == nil)
        #expect(claims.names.count == 11)
    }

    @Test func `A name with escapes is found by what it stands for, byte by byte`() throws {
        let claims = try claims(#"{"\u0073ub":"u1","é":1,"e\u0301":2}"#)
        #expect(claims.subject == "u1" && claims.names == ["sub", "é", "e\u{301}"])
        #expect(claims[int: "é"] == 1 && claims[int: "e\u{301}"] == 2)
        let plain = try self.claims("{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(plain[int: "\u{E9}"] == 1 && plain[int: "e\u{301}"] == 2)
    }

    @Test func `Numbers at the bounds are read without a trap`() throws {
        let claims = try claims(
            #"{"max":9223372036854775807,"over":9223372036854775808,"min":-9223372036854775808,"under":-9223372036854775809,"#
                + #""huge":1e308,"near":-9223372036854775808.5,"tiny":1e-400,"minus":-0.0,"last":9007199254740992,"past":9007199254740994,"long":\#(String(repeating: "9", count: 300))}"#
        )
        #expect(claims[int: "max"] == .max && claims[int: "min"] == .min)
        #expect(claims[int: "over"] == nil && claims[int: "under"] == nil && claims[int: "huge"] == nil)
        #expect(claims[int: "long"] == nil && claims[int: "near"] == nil)
        #expect(claims[double: "over"] == 0x1p63 && claims[double: "tiny"] == 0 && claims[int: "minus"] == 0)
        #expect(claims[time: "last"] == 0x1p53 && claims[time: "past"] == nil && claims[time: "huge"] == nil)
        #expect(claims[time: "min"] == nil && claims[time: "minus"] == 0)
    }

    @Test func `Registered claims have names of their own`() throws {
        let claims = try claims(#"{"iss":"i","sub":"s","aud":"a","exp":3,"nbf":1.5,"iat":2,"jti":"j"}"#)
        #expect(claims.issuer == "i" && claims.subject == "s" && claims.audience == ["a"] && claims.id == "j")
        #expect(claims.expiresAt == 3 && claims.notBefore == 1.5 && claims.issuedAt == 2)
        #expect(try self.claims(#"{"aud":["a","b"]}"#).audience == ["a", "b"])
        #expect(try self.claims(#"{"aud":7}"#).audience == [])
    }

    @Test func `Claims are compared by their text`() throws {
        let (one, same, other) = (try claims(#"{"a":1}"#), try claims(#"{"a":1}"#), try claims(#"{"a": 1}"#))
        #expect(one == same && one.hashValue == same.hashValue && one != other)
    }

    @Test func `Claims of more than 64 KiB are refused`() {
        let json = "{\"a\":\"\(String(repeating: "x", count: 65536))\"}"
        #expect(code { try JWTClaims(json: Array(json.utf8)) } == .tooLarge)
    }
}

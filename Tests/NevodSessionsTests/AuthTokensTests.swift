import Foundation
import NevodJWT
import NevodSessions
import NevodTestSupport
import Testing

struct AuthTokensTests {
    private func tokens(_ claims: String) -> AuthTokens {
        AuthTokens(access: .jwt(claims, key: "key"), refresh: "refresh")
    }

    @Test func `Claims are read by their types`() throws {
        let tokens = tokens(
            #"{"user_id": "u1", "level": 7, "admin": true, "score": 1.5, "auth_time": 1700000000.5, "roles": ["a", "b"], "aud": "one"}"#
        )
        #expect(tokens[string: "user_id"] == "u1" && tokens[int: "level"] == 7 && tokens[boolean: "admin"] == true)
        #expect(tokens[double: "score"] == 1.5 && tokens[double: "level"] == 7)
        #expect(tokens[date: "auth_time"] == Date(timeIntervalSince1970: 1_700_000_000.5))
        #expect(tokens[strings: "roles"] == ["a", "b"] && tokens[strings: "aud"] == ["one"])
        #expect(tokens[string: "level"] == nil && tokens[int: "user_id"] == nil && tokens[boolean: "missing"] == nil)
        #expect(tokens[strings: "level"] == nil && tokens[date: "user_id"] == nil && tokens[double: "admin"] == nil)
        #expect(try tokens.toJWT().header.algorithm == "HS256")
        #expect(try tokens.toJWT().unverifiedClaims.audience == ["one"])
    }

    @Test func `A token in another form has no claims, and no expiry`() {
        let tokens = AuthTokens(access: "opaque", refresh: "refresh")
        #expect(tokens.access == "opaque" && tokens.refresh == "refresh")
        #expect(tokens[string: "sub"] == nil && tokens.expiresAt == nil && !tokens.isExpired(leeway: .seconds(1e9)))
        let error = #expect(throws: JWTError.self) { try tokens.toJWT() }
        #expect(error?.code == .malformed)
        #expect(tokens.toSession() == .valid(tokens))
    }

    @Test func `The claim exp is the expiry`() throws {
        let tokens = tokens(#"{"exp": 2000000000.9}"#)
        let expiry = Date(timeIntervalSince1970: 2_000_000_000)
        #expect(tokens.expiresAt == expiry)
        #expect(!tokens.isExpired(at: expiry - 1) && tokens.isExpired(at: expiry) && tokens.isExpired(at: expiry + 1))
        #expect(tokens.isExpired(leeway: .seconds(30), at: expiry - 30))
        #expect(!tokens.isExpired(leeway: .seconds(30), at: expiry - 30.5))
        #expect(tokens.isExpired(leeway: .milliseconds(1500), at: expiry - 1.25))
        #expect(
            !tokens.isExpired(leeway: .seconds(-30), at: expiry + 29) && tokens.isExpired(leeway: .seconds(-30), at: expiry + 30))
        #expect(AuthSession(tokens, at: expiry) == .expired(tokens) && AuthSession(tokens, at: expiry - 1) == .valid(tokens))
        // Neither one makes the stored tokens unreadable.
        for claims in [#"{"exp": 9007199254740992}"#, #"{"exp": -1}"#, #"{"exp": "soon"}"#, "{}"] {
            let tokens = self.tokens(claims)
            #expect(tokens.expiresAt == nil)
            #expect(try AuthTokens.decode(from: tokens.encode()) == tokens)
        }
    }

    @Test func `The stored form is as before`() throws {
        let tokens = tokens(#"{"exp": 2000000000, "sub": "u1"}"#)
        let text = String(decoding: try tokens.encode(), as: UTF8.self)
        #expect(
            text
                == #"{"accessToken":"\#(tokens.accessToken)","expiresAt":"2033-05-18T03:33:20Z","refreshToken":"refresh"}"#)
        #expect(try AuthTokens.decode(from: tokens.encode())[string: "sub"] == "u1")
        #expect(
            String(decoding: try AuthTokens(access: "a", refresh: "r").encode(), as: UTF8.self)
                == #"{"accessToken":"a","refreshToken":"r"}"#)
    }

    @Test func `A session tells its cases apart, and prints no token`() {
        let tokens = tokens(#"{"exp": 1, "name": "ada"}"#)
        let sessions: [AuthSession] = [AuthSession(nil), .expired(tokens), .valid(tokens)]
        #expect(sessions.map(\.isValid) == [false, false, true] && sessions.map(\.isExpired) == [false, true, false])
        #expect(sessions.map(\.tokens) == [nil, tokens, tokens] && tokens.toSession() == .expired(tokens))
        #expect(sessions.map(\.description) == ["missing", "expired", "valid"])
        for session in sessions {
            var text = "\(session) \(String(reflecting: session))"
            dump(session, to: &text)
            #expect(!text.contains(tokens.accessToken) && !text.contains("ada") && !text.contains("refresh"))
        }
    }
}

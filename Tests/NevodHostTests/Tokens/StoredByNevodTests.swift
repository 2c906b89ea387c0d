import Foundation
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// Tokens in the formats in which Nevod stored its own types. Foundation's `JSONEncoder` wrote them then, and is the judge here.
struct StoredByNevodTests {
    private struct Wrapped: Encodable {
        let value: String
    }

    private struct HeaderKey: Encodable {
        let apiKey: String
        let headerName: String
    }

    private struct QueryKey: Encodable {
        let apiKey: String
        let paramName: String
    }

    private struct StoredCookie: Encodable {
        var name = "session"
        var value = "a/b=c"
        var domain = ".example.com"
        var path = "/shop"
        var expiresDate: Date?
        var isSecure = true
        var isHTTPOnly = true
    }

    private func json(_ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting = []) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        return Array(try encoder.encode(value))
    }

    @Test(arguments: [JSONEncoder.OutputFormatting(), .prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    func `Each format is read as the token that it holds`(formatting: JSONEncoder.OutputFormatting) throws {
        let text = "eyJ/a+b=\"\\\u{1F600}\u{7}ø"
        #expect(try Token.decode(from: json(Wrapped(value: text), formatting)) == Token(value: text))
        #expect(
            try APIKeyToken.decode(from: json(HeaderKey(apiKey: text, headerName: "X-Key"), formatting))
                == APIKeyToken(apiKey: text, headerName: "X-Key"))
        #expect(
            try QueryAPIKeyToken.decode(from: json(QueryKey(apiKey: text, paramName: "key"), formatting))
                == QueryAPIKeyToken(apiKey: text, paramName: "key"))
        let end = Date(timeIntervalSince1970: 4_000_000_000.75)
        let cookies = [StoredCookie(expiresDate: end), StoredCookie(name: "own", domain: "shop.example.com", isSecure: false)]
        let token = try CookieToken.decode(from: json(cookies, formatting))
        #expect(
            token.sessionCookies == [
                Cookie(
                    name: "session", value: "a/b=c", domain: "example.com", isHostOnly: false, path: "/shop", isSecure: true,
                    isHTTPOnly: true, expires: UnixTime(seconds: 4_000_000_000)),
                Cookie(name: "own", value: "a/b=c", domain: "shop.example.com", path: "/shop", isHTTPOnly: true),
            ])
    }

    @Test func `Cookies that can't be sent are dropped, and damaged ones are an error`() throws {
        #expect(try CookieToken.decode(from: Array("[]".utf8)).sessionCookies.isEmpty)
        let broken = StoredCookie(value: "a\r\nX-Evil: 1")
        #expect(try CookieToken.decode(from: json([broken, StoredCookie()])).sessionCookies.map(\.value) == ["a/b=c"])
        for text in ["[1]", #"[{"name":"a"}]"#, #"[{"name":"a","value":"b","domain":1,"path":"/"}]"#] {
            #expect(throws: UnreadableTokenError.self, "\(text)") { try CookieToken.decode(from: Array(text.utf8)) }
        }
        let far =
            #"[{"name":"a","value":"b","domain":"h","path":"/","expiresDate":1e300},"#
            + #"{"name":"c","value":"b","domain":"h","path":"/","expiresDate":-1e300}]"#
        let expiries = try CookieToken.decode(from: Array(far.utf8)).sessionCookies.map(\.expires)
        #expect(expiries[0].map { $0.seconds > 4_000_000_000 } == true && expiries[1] == UnixTime(seconds: 1))
    }

    @Test(
        arguments: [
            #"{"value":"a","extra":"b"}"#, #"{"value":1}"#, #"{"value":null}"#, #"{"Value":"a"}"#, #"{"token":"a"}"#, "{}", "[]",
            #"["value","a"]"#, #"{"value":"a""#, #"{"value":"a"} x"#, #"{"value":"a","value":"b"}"#, #""a""#, "null", "{", "[",
            "",
            #"{"apiKey":"a","headerName":"b"}"#,
        ])
    func `A bearer that merely looks like JSON is left alone`(text: String) throws {
        #expect(try Token.decode(from: Array(text.utf8)).value == text)
        #expect(try Token.decode(from: Token(value: text).encode()).value == text)
    }

    @Test func `A bearer that is Nevod's JSON survives its storage`() throws {
        var value = "a"
        for _ in 0..<5 {
            value = String(decoding: try json(Wrapped(value: value)), as: UTF8.self)
            #expect(try Token.decode(from: Token(value: value).encode()).value == value)
        }
    }

    @Test func `No stored JSON of Nevod's is sent as a bearer`() async throws {
        let rounds = Rounds("NEVODJSON", default: 2000)
        var random = rounds.random
        let letters: [Character] = [
            "a", "7", "/", "\"", "\\", "{", "}", ":", ",", "\u{1}", " ", "ø", "\u{1F600}", "\u{2028}", "-",
        ]
        for _ in 0..<rounds.count {
            let text = String(
                (0..<Int.random(in: 0...20, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" })
            var stored = try json(Wrapped(value: text))
            #expect(try Token.decode(from: stored).value == text)
            // A damaged token is decoded without a trap, and is stored as it was read.
            for _ in 0..<Int.random(in: 1...3, using: &random) where !stored.isEmpty {
                stored[Int.random(in: 0..<stored.count, using: &random)] = UInt8.random(in: 0x20...0x7E, using: &random)
            }
            let damaged = try Token.decode(from: stored)
            #expect(try Token.decode(from: damaged.encode()) == damaged)
            _ = try? CookieToken.decode(from: stored)
            _ = try? APIKeyToken.decode(from: stored)
            _ = try? QueryAPIKeyToken.decode(from: stored)
        }
    }
}

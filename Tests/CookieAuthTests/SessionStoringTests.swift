import NevodPluginKit
import NevodSupport
import NevodTestSupport
import Testing

@testable import CookieAuth

/// Tests the stored form of a session.
struct SessionStoringTests {
    private func session(_ text: String) throws(SchemeError) -> Session {
        try session(of: Array(text.utf8))
    }

    private func session(of bytes: [UInt8]) throws(SchemeError) -> Session {
        try Session(decoding: bytes.span)
    }

    private static let cookie = "hs\t2000\th.example\t/a\tsid\tv=1"
    private static let wide = "\t\texample.com\t/\tname\t"

    @Test(arguments: ["1\n", "2\n\n"])
    func `Cookies are read from both versions, and written in the later one`(head: String) throws {
        let session = try session("\(head)\(Self.cookie)\n\(Self.wide)\n")
        #expect(session.csrf == nil)
        let cookies = session.jar.cookies
        #expect(cookies.map(\.name) == ["sid", "name"] && cookies.map(\.domain) == ["h.example", "example.com"])
        #expect(cookies[0].value == Secret("v=1") && cookies[1].value.isEmpty)
        #expect(cookies[0].isHostOnly && cookies[0].isSecure && cookies[0].expiry == 2000 && cookies[0].path == "/a")
        #expect(!cookies[1].isHostOnly && !cookies[1].isSecure && cookies[1].expiry == nil)
        #expect(String(revealing: session.encoded) == "2\n\n\(Self.cookie)\n\(Self.wide)\n")
    }

    @Test func `The CSRF token has a line of its own`() throws {
        let text = "2\nhttps://h.example\tto ken=\n\(Self.cookie)\n"
        let session = try session(text)
        #expect(session.csrf == IssuedCSRF(value: "to ken=", origin: "https://h.example"))
        #expect(String(revealing: session.encoded) == text)
        #expect(try self.session("2\nhttps://h.example\ttoken\n").jar.cookies.isEmpty)
    }

    @Test(arguments: [
        "", "\n", "1", "2", "2\n", "2\n\n\n", "3\n\n", "02\n\n", " 2\n\n", "2\r\n\r\n", "\u{FEFF}2\n\n", "1\n\n",
        "2\n\n\(cookie)",
        "2\nno tab\n", "2\n\ttoken\n", "2\nhttps://h\t\n", "2\nhttps://h\ta\u{1}b\n", "2\nhttps://h\ta\tb\n",
        "2\n\n\n\(cookie)\n",
        "2\n\n\(cookie)\n\n", "2\n\nh\t\th\t/\ta\n", "2\n\nx\t\th\t/\ta\tb\n", "2\n\nh\tsoon\th\t/\ta\tb\n",
        "2\n\nh\t1e3\th\t/\ta\tb\n",
        "2\n\nh\t99999999999999999999\th\t/\ta\tb\n", "2\n\nh\t\t\t/\ta\tb\n", "2\n\nh\t\th\tp\ta\tb\n", "2\n\nh\t\th\t\ta\tb\n",
        "2\n\nh\t\th\t/\t\tb\n", "2\n\nh\t\th\t/\ta\tb\tc\n", "2\n\nh\t\th\t/\t__Host-a\tb\n", "2\n\n\(cookie)\ntrailing",
    ])
    func `A damaged session is an error that says so`(text: String) throws {
        let error = try #require(throws: SchemeError.self) { try session(text) }
        #expect(error.message == "the stored cookies are damaged, or from another version of this plugin")
    }

    @Test func `Every cut of a session is an error, or a shorter session`() throws {
        let bytes = Array("2\nhttps://h.example\ttoken\n\(Self.cookie)\n\(Self.wide)\n".utf8)
        let whole = try session(of: bytes)
        for count in bytes.indices {
            guard let session = try? self.session(of: Array(bytes[..<count])) else { continue }
            #expect(session.jar.cookies.count < whole.jar.cookies.count && bytes[count - 1] == UInt8(ascii: "\n"))
        }
    }

    @Test func `Bytes that are no UTF-8 are an error`() throws {
        for bytes in [[0x32, 0x0A, 0xFF, 0x0A], [0x32, 0x0A, 0x0A] + Array("h\t\th\t/\t".utf8) + [0xFF, 0x09, 0x62, 0x0A]]
            as [[UInt8]]
        {
            #expect(throws: SchemeError.self) { try session(of: bytes) }
        }
    }

    /// A cookie's value may have any bytes that a header line may have.
    @Test func `Random bytes are read as they were written, or not at all`() {
        var random = SeededRandom(seed: 20)
        let parts = ["2", "1", "\n", "\t", "h", "s", "/", "a", "2000", "https://h", "\u{0}", "é", "=", ";", "__Host-"]
        for _ in 0..<20_000 {
            let text =
                "2\n"
                + (0..<Int.random(in: 0...16, using: &random)).compactMap { _ in parts.randomElement(using: &random) }.joined()
            guard let session = try? session(text) else { continue }
            let again = try? self.session(String(revealing: session.encoded))
            #expect(again == session, "\(text.debugDescription)")
        }
    }
}

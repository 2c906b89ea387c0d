import NevodPluginKit
import NevodSupport
import NevodTestSupport
import Testing

@testable import CookieAuth

/// Tests the search for a server's words in values made for these tests. ServerWordsTests tests the errors with the library.
struct ServerWordsReaderTests {
    private func answer(_ body: String, type: String = "application/json") throws -> Answer {
        Answer(
            status: 400, url: try #require(PageURL("https://h.example/login")), headers: [("Content-Type", type)],
            body: Secret(body), newCookies: [], deletedCookies: [])
    }

    private func words(_ body: String, hiding hidden: String? = nil, type: String = "application/json") throws -> String? {
        ServerWords.words(of: try answer(body, type: type), hiding: hidden.map { [Secret($0)] } ?? [])
    }

    @Test func `An object's own words come before those further in`() throws {
        #expect(try words(#"{"data":{"message":"inner"},"title":"outer"}"#) == "outer")
        #expect(try words(#"{"a":1,"data":{"message":"inner"},"b":2}"#) == "inner")
        #expect(try words(#"{"error":{"data":[1,{"reason":"deep"}]}}"#) == "deep")
    }

    @Test(arguments: ["text/plain", "application/octet-stream", "image/png"])
    func `Other types have no words`(type: String) throws {
        #expect(try words(#"{"message":"a"}"#, type: type) == nil)
    }

    @Test func `A secret of no length hides nothing`() throws {
        #expect(try words(#"{"message":"a"}"#, hiding: "") == "a")
        #expect(try words(#"{"message":"abc"}"#, hiding: "b") == nil)
    }

    @Test func `Words are cut between characters`() throws {
        for count in 190...205 {
            let said = try #require(try words(#"{"message":"\#(String(repeating: "x", count: count))äöü€😀äöü€😀"}"#))
            #expect(!said.unicodeScalars.contains("\u{FFFD}") && said.utf8.count <= 207)
        }
    }

    /// Wide, deep, and both.
    @Test(
        arguments: [
            { count in "[" + String(repeating: "{\"a\":[]},", count: count) + "0]" },
            { count in "{" + (0..<count).map { "\"k\($0)\":{\"error\":null}" }.joined(separator: ",") + "}" },
            { count in
                String(repeating: "{\"errors\":[", count: 60) + String(repeating: "{},", count: count) + "0"
                    + String(repeating: "]}", count: 60)
            },
            { count in "{" + (0..<count).map { "\"k\($0)\":{}" }.joined(separator: ",") + "}" },
            { count in "[" + String(repeating: "[],", count: 5 * count) + "0]" },
            { count in "{\"message\":\"\(String(repeating: " ", count: 20 * count))\"}" },
        ] as [@Sendable (Int) -> String])
    func `The search takes time in proportion to the answer`(body: @Sendable (Int) -> String) throws {
        let factor = try Growth.factor(1000, { try answer(body($0)) }, { _ = ServerWords.words(of: $0, hiding: [Secret("x")]) })
        #expect(factor < Growth.linear)
    }
}

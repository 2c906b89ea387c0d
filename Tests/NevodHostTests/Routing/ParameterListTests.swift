import Foundation
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct ParameterListTests {
    private static let texts = [
        "", "a", "&", "+", "=", "%", "#", "/", "?", " ", "ø", "漢字", "😀", "%41", "a&b=c+d%20e", "*-._~", "\"\\", ";", "'",
        "\u{1F}",
        "\r\n", "\0", "e\u{301}",
    ]
    private static let pairs = ParameterList(
        texts.flatMap { name in texts.map { (name, $0) } } + [("twice", "1"), ("twice", "2"), ("twice", "1")])

    /// Names and values as Python's standard library reads them. In files, because a program's arguments can't hold all of them.
    private func read(_ encoded: [UInt8]) throws -> [[String]] {
        let script = """
            import json, sys, urllib.parse
            text = open(sys.argv[1], "rb").read().decode("ascii")
            print(json.dumps(urllib.parse.parse_qsl(text, keep_blank_values=True, strict_parsing=True, errors="strict")))
            """
        let folder = try TemporaryFolder()
        let output = try Command.python(script, [folder.write("encoded", encoded)]).joined()
        return try JSONDecoder().decode([[String]].self, from: Data(output.utf8))
    }

    private var expected: [[String]] { Self.pairs.parameters.map { [$0.name, $0.value] } }

    @Test func `Query parameters reach the server unchanged`() async throws {
        let server = try ScriptedServer()
        let route = SimpleGetRoute<EmptyResponse, Service>(endpoint: "/q?own=1", domain: .api, parameterList: Self.pairs)
        _ = try await NetworkProvider.test(server).perform(route)
        let request = try #require(server.requests.first)
        #expect(try read(Array(request.query.utf8)) == [["own", "1"]] + expected)
        #expect(request.body.isEmpty)
    }

    @Test func `Form parameters reach the server unchanged`() async throws {
        let server = try ScriptedServer()
        let route = SimplePostRoute<EmptyResponse, Service>(
            endpoint: "/f", domain: .api, parameterList: Self.pairs, parameterEncoding: .formURLEncoded)
        _ = try await NetworkProvider.test(server).perform(route)
        let request = try #require(server.requests.first)
        #expect(request["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(request.target == "/f")
        #expect(try read(request.body) == expected)
    }

    @Test func `A form is encoded by the rules of WHATWG`() {
        let form = ParameterList([("a b", "*-._~"), ("+", "ø"), ("", "")]).form
        #expect(String(decoding: form, as: UTF8.self) == "a+b=*-._%7E&%2B=%C3%B8&=")
    }

    @Test func `JSON parameters reach the server unchanged`() async throws {
        let server = try ScriptedServer()
        let unique = Dictionary(uniqueKeysWithValues: Self.texts.map { ($0, $0 + "\u{8}\"\\") })
        let route = SimplePostRoute<EmptyResponse, Service>(endpoint: "/j", domain: .api, parameters: unique)
        _ = try await NetworkProvider.test(server).perform(route)
        let request = try #require(server.requests.first)
        #expect(request["Content-Type"] == "application/json")
        let folder = try TemporaryFolder()
        let script = "import json, sys; print(json.dumps(sorted(json.load(open(sys.argv[1], 'rb')).items())))"
        let output = try Command.python(script, [folder.write("body", request.body)]).joined()
        let members = try JSONDecoder().decode([[String]].self, from: Data(output.utf8))
        #expect(Dictionary(uniqueKeysWithValues: members.map { ($0[0], $0[1]) }) == unique)
    }

    @Test func `A dictionary is sorted, a literal keeps its order`() {
        let names = ["d", "b", "a", "c", "e", "g", "f"]
        #expect(ParameterList(Dictionary(uniqueKeysWithValues: names.map { ($0, "1") })).query == "a=1&b=1&c=1&d=1&e=1&f=1&g=1")
        let literal: ParameterList = ["b": "1", "a": "2", "b": "0"]
        #expect(literal.query == "b=1&a=2&b=0")
        #expect(String(decoding: literal.json, as: UTF8.self) == #"{"b":"1","a":"2","b":"0"}"#)
    }
}

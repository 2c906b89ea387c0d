import NevodPluginKit
import NevodTestSupport
import Testing

struct JSONValueTests {
    @Test(
        arguments: [
            ("null", nil), (" \t\r\ntrue ", true), ("false", false), ("0", 0), ("-0", 0), ("-12", -12),
            ("9223372036854775807", .integer(.max)), ("9223372036854775808", .number(9_223_372_036_854_775_808)),
            ("1.5", 1.5), ("1e2", 100.0), ("1E+2", 100.0), ("12.5e-1", 1.25), ("\"\"", ""), ("[]", []), ("{}", [:]),
            ("[1, [true], {}]", [1, [true], [:]]), (#"{"a": 1, "b": {"a": "x"}, "": null}"#, ["a": 1, "b": ["a": "x"], "": nil]),
            (#""\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00""#, "\"\\/\u{8}\u{C}\n\r\tAé😀"), ("\"ä€😀\u{7F}\"", "ä€😀\u{7F}"),
            (#"{"a":1,"a":2}"#, .object([.init("a", 1), .init("a", 2)])),
        ] as [(String, JSONValue)])
    func `Values parse`(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
    }

    @Test(arguments: [
        "", " ", "nul", "nulll", "True", "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "NaN", "Infinity", "1e999", "'a'", "\"",
        "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u123g\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\ud800x\"", "\"\\udc00\"",
        "\"\u{1}\"", "\"\n\"", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}",
        "{a:1}", "{1:1}", "{\"a\" 1}", "{,}", "1 2", "1,", "/**/1", "\u{FEFF}1", "<html>",
    ])
    func `Text that is not JSON is refused`(text: String) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error.map { !$0.problem.isEmpty && $0.offset <= text.utf8.count } == true)
    }

    @Test func `Depth and size are limited`() throws {
        func nested(_ count: Int) -> [UInt8] {
            Array((String(repeating: "[", count: count) + String(repeating: "]", count: count)).utf8)
        }
        _ = try JSONValue(parsing: nested(64).span)
        let deep = #expect(throws: JSONError.self) {
            try JSONValue(parsing: nested(65).span)
        }
        #expect(deep?.offset == 64)
        let deeper = #expect(throws: JSONError.self) { try JSONValue(parsing: nested(100_000).span) }
        #expect(deeper?.offset == 64)
        let objects = Array(String(repeating: "{\"a\":", count: 100_000).utf8)
        let objectError = #expect(throws: JSONError.self) { try JSONValue(parsing: objects.span) }
        #expect(objectError?.offset == 5 * 64)
        let large = Array("\"\(String(repeating: "x", count: 1 << 20))\"".utf8)
        let long = #expect(throws: JSONError.self) { try JSONValue(parsing: large.span) }
        #expect(long?.offset == 1 << 20)
        _ = try JSONValue(parsing: large.span, size: large.count)
        let encoding = #expect(throws: JSONError.self) { try JSONValue(parsing: ([0x22, 0xFF, 0x22] as [UInt8]).span) }
        #expect(encoding?.offset == 1)
    }

    @Test func `Members are found by name and index`() throws {
        let value = try JSONValue(parsing: #"{"a":[1,2.0,2.5,"x",true],"n":1,"n":2,"é":3}"#)
        #expect(value["n"]?.integer == 2)
        #expect(value["a"]?[0]?.integer == 1)
        #expect(value["a"]?[1]?.integer == 2)
        #expect(value["a"]?[2]?.integer == nil)
        #expect(value["a"]?[3]?.string == "x")
        #expect(value["a"]?[4]?.bool == true)
        #expect(value["a"]?[5] == nil)
        #expect(value["a"]?["x"] == nil)
        #expect(value["e\u{301}"] == nil)
        #expect(value[0] == nil)
    }

    /// For any text, the kit and Python agree on whether it is valid, and on its value.
    @Test func `Random text is accepted or refused as by Python`() throws {
        var random = SeededRandom(seed: 8259)
        let words = [
            "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"b\"", "1", "-", "0", ".", "5", "e", "true", "null", " ", "\\",
            "\\u0041",
            "\\ud83d\\ude00", "é", "\"a\":",
        ]
        let values: [JSONValue] = (0..<500).map { _ in self.value(&random, depth: 3) }
        let texts = (0..<4000).map { _ in random.text(of: words, upTo: 8) } + values.map { String(revealing: $0.encoded) }
        // Python accepts NaN and lone surrogates, but these fragments can't form either.
        let verdicts = try Judge.python(
            """
            def verdict(text):
                try: return json.dumps(json.loads(text), ensure_ascii=False, separators=(',', ':'))
                except ValueError: return ''
            tell([verdict(text) for text in cases])
            """, texts, as: String.self)
        var valid = 0
        for (text, verdict) in zip(texts, verdicts) {
            let value = try? JSONValue(parsing: text)
            #expect((value != nil) == !verdict.isEmpty, "\(text)")
            guard let value, !verdict.isEmpty else { continue }
            valid += 1
            #expect(try Self.lastOfEach(value) == JSONValue(parsing: verdict), "\(text)")
        }
        #expect(valid > 600)
        for value in values { #expect(try JSONValue(parsing: String(revealing: value.encoded)) == value) }
    }

    private func value(_ random: inout SeededRandom, depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &random) {
        case 0: return nil
        case 1: return .bool(Bool.random(using: &random))
        case 2: return .integer(Int64.random(in: .min ... .max, using: &random))
        case 3: return .number(Double.random(in: -1e30...1e30, using: &random))
        case 4: return .string(random.text(of: ["a", "\"", "\\", "\u{1F}", "é", "\u{2028}", "/"], upTo: 5))
        case 5: return .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(&random, depth: depth - 1) })
        default:
            return .object(
                (0..<Int.random(in: 0..<4, using: &random)).map { .init("k\($0)", value(&random, depth: depth - 1)) })
        }
    }

    /// Returns the value of a parser that keeps the last member of each name, at the position of the first.
    private static func lastOfEach(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map(lastOfEach))
        case .object(let members):
            var names: [String] = []
            for member in members where !names.contains(member.name) { names.append(member.name) }
            return .object(names.map { name in .init(name, lastOfEach(value[name] ?? nil)) })
        default: return value
        }
    }

    @Test func `A secret is written as a string`() {
        #expect(String(revealing: JSONValue.array([.secret(Secret("a\"ä"))]).encoded) == #"["a\"ä"]"#)
        #expect(!"\(JSONValue.secret(Secret("hunter2")))".contains("hunter2"))
        #expect(String(revealing: JSONValue.number(.infinity).encoded) == "null")
    }
}

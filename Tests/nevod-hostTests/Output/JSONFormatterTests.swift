import Testing

@testable import nevod_host

@Suite struct JSONFormatterTests {
    private func format(_ text: String, inColour: Bool = false) -> String? {
        JSONFormatter(inColour: inColour).format(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("Members keep their order and duplicates, numbers and strings their bytes")
    func keepsBytes() {
        let text = #"{"b":1,"a":[1.0,1e400,-0,12345678901234567890.10],"b":"\u00e9\/é","e":{},"f":[ ],"g":[{"h":null}]}"#
        #expect(
            format(text) == #"""
                {
                  "b": 1,
                  "a": [
                    1.0,
                    1e400,
                    -0,
                    12345678901234567890.10
                  ],
                  "b": "\u00e9\/é",
                  "e": {},
                  "f": [],
                  "g": [
                    {
                      "h": null
                    }
                  ]
                }

                """#)
    }

    @Test("A scalar is a document", arguments: ["1", "\"\"", "true", "false", "null", "-1.5E+3", "0", "\"\\ud800\""])
    func scalar(text: String) {
        #expect(format(" \r\n\t\(text)\n") == text + "\n")
        #expect(format("\u{FEFF}\(text)") == text + "\n")
    }

    @Test(
        "Invalid JSON is left to the caller",
        arguments: [
            "", " ", "{", "[", "]", "}", "[}", "{]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
            "{a:1}", "{1:1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "1 2", "1,", ":", "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1",
            "tru", "truefalse", "True", "nul", "NaN", "Infinity", "'a'", "\"", "\"\\\"", "\"\\x\"", "\"\\u12g4\"", "\"\\u12",
            "\"\n\"", "\"\u{1B}[31m\"", "\"\u{0}\"", "[1]]", "// no\n1", "é", "\u{A0}1", "[\"a\":1]", "<html>",
        ])
    func malformed(text: String) {
        #expect(format(text) == nil)
    }

    @Test("Bytes that are not UTF-8 are not JSON")
    func malformedUTF8() {
        for bytes: [UInt8] in [[0x22, 0x9B, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xC3]] {
            #expect(JSONFormatter(inColour: false).format(bytes) == nil)
        }
    }

    @Test("Control characters never reach the terminal")
    func terminal() {
        #expect(format("\"a\u{7F}\u{9B}31m\u{80}\u{9F}\"") == #""a\u007f\u009b31m\u0080\u009f""# + "\n")
        #expect(format("{\"\u{202E}k\":\"\u{2066}\u{061C}\u{A0}é€😀\"}") == "{\n  \"\\u202ek\": \"\\u2066\\u061c\u{A0}é€😀\"\n}\n")
        #expect(format(#""\u001b\\u001b""#) == #""\u001b\\u001b""# + "\n")
    }

    @Test("Only keys, strings, numbers and literals are coloured")
    func colours() {
        let text = format(#"{"k":["s",1,null]}"#, inColour: true)
        #expect(
            text == "{\n  \u{1B}[1;34m\"k\"\u{1B}[0m: [\n    \u{1B}[32m\"s\"\u{1B}[0m,\n    \u{1B}[36m1\u{1B}[0m,\n"
                + "    \u{1B}[35mnull\u{1B}[0m\n  ]\n}\n")
    }

    @Test("The depth is limited")
    func depth() {
        func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        #expect(format(nested(512)) != nil)
        #expect(format(nested(513)) == nil)
        #expect(format(nested(100_000)) == nil)
        #expect(format(String(repeating: "{\"a\":", count: 100_000)) == nil)
        #expect(format(String(repeating: "[", count: 100_000)) == nil)
    }

    @Test("The size of the output is limited")
    func size() {
        let text = "[[[[" + Array(repeating: "1", count: 1000).joined(separator: ",") + "]]]]"
        var formatter = JSONFormatter(inColour: false)
        #expect(formatter.format(Array(text.utf8)) != nil)
        formatter.maximumOutput = 5000
        #expect(formatter.format(Array(text.utf8)) == nil)
    }

    @Test("Formatting is idempotent and adds only white space")
    func fixedPoint() throws {
        let text = #"[{"a":{"b":[[],{},[{}]],"c":"x"}},"y",[1,[2,[3]]],true]"#
        let once = try #require(format(text))
        #expect(format(once) == once)
        #expect(once.filter { $0 != " " && $0 != "\n" } == text)
    }
}

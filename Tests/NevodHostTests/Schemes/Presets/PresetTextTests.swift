import NevodTestSupport
import Testing

@testable import NevodHost

struct PresetTextTests {
    private func parse(_ text: String, mayReadEnvironment: Bool = true) throws(PresetError) -> PresetText {
        try PresetText(Array(text.utf8), path: "acme.preset", mayReadEnvironment: mayReadEnvironment)
    }

    private func problem(_ text: String, mayReadEnvironment: Bool = true) throws -> String {
        try #require(throws: PresetError.self) { try parse(text, mayReadEnvironment: mayReadEnvironment) }.description
    }

    @Test func `Lines are read as in a config file`() throws {
        let preset = try parse(
            """
            \u{FEFF}#  Acme, for everybody\u{20}
            # source: https://acme.example/docs

            {domain} = Your domain
              issuer=https://{domain}/a=b\r
            \tscope\t=\ta  b\t
            # scope = no
            """)
        #expect(preset.title == "Acme, for everybody")
        #expect(preset.placeholders.map(\.name) == ["domain"] && preset.placeholders.map(\.help) == ["Your domain"])
        #expect(preset.entries.map(\.name) == ["issuer", "scope"])
        #expect(preset.entries.map(\.line) == [5, 6])
        #expect(preset.entries[0].value == .text([.literal("https://"), .placeholder("domain"), .literal("/a=b")]))
        #expect(preset.entries[1].value == .text([.literal("a  b")]))
    }

    @Test(
        arguments: [
            ("{a}", [.placeholder("a")]), ("{a}{b}", [.placeholder("a"), .placeholder("b")]),
            ("x{a}y{b}z", [.literal("x"), .placeholder("a"), .literal("y"), .placeholder("b"), .literal("z")]),
            // A scheme's template, and text that only looks like a placeholder.
            (
                "{method}\\n{a}{{a}}",
                [.literal("{method}\\n"), .placeholder("a"), .literal("{"), .placeholder("a"), .literal("}")]
            ),
            ("{a", [.literal("{a")]), ("a}", [.literal("a}")]), ("{ab}{}{A}", [.literal("{ab}{}{A}")]),
            ("text:{a}", [.placeholder("a")]), ("text:", []), ("text:env:HOME", [.literal("env:HOME")]),
        ] as [(String, [PresetText.Piece])])
    func `Only declared placeholders are cut out of a value`(text: String, pieces: [PresetText.Piece]) throws {
        // The last line uses both, because each placeholder must be used.
        let preset = try parse("# T\n{a} = A\n{b} = B\nx = \(text)\ny = {a}{b}\n")
        #expect(preset.entries[0].value == .text(pieces))
    }

    @Test func `An environment variable is named by its whole value`() throws {
        #expect(try parse("# T\na = env:_A1\n").entries[0].value == .variable("_A1"))
        #expect(try parse("# T\na = xenv:A\n").entries[0].value == .text([.literal("xenv:A")]))
    }

    @Test(arguments: [
        ("", "first line"), ("\n\n", "first line"), ("a = b\n", "acme.preset:1: the first line"), ("#\na = b\n", "first line"),
        ("# \u{1B}[1m\n", "first line"), ("# \(String(repeating: "t", count: 121))\n", "first line"),
        ("# T\nscope\n", "acme.preset:2: write a line"), ("# T\nscope =\n", ":2: write a line"),
        ("# T\n= a\n", ":2: write a line"),
        ("# T\n[work]\na = b\n", ":2: write a line"), ("# T\nScope = a\n", ":2: write a line"),
        ("# T\npreset = other\n", ":2: write a line"), ("# T\na b = c\n", ":2: write a line"),
        ("# T\na = b\u{7F}\n", ":2: it contains a control character"),
        ("# T\na = b\u{0}c\n", ":2: it contains a control character"),
        ("# T\n{a} = A\n", ":2: no line uses {a}"), ("# T\n{a} = A\n{a} = B\nx = {a}\n", ":3: a placeholder is declared once"),
        ("# T\n{A} = A\nx = {A}\n", ":2: a placeholder"), ("# T\n{} = A\n", ":2: a placeholder"),
        ("# T\n{ = A\n", ":2: a placeholder"),
        ("# T\na = file:/etc/passwd\n", ":2: a preset can't read a file"),
        ("# T\na = keyring:x\n", ":2: a preset can't read a file"),
        ("# T\na = command:id\n", ":2: a preset can't read a file"), ("# T\na = -\n", ":2: a preset can't read a file"),
        ("# T\na = env:\n", ":2: env: needs"), ("# T\na = env:1A\n", ":2: env: needs"), ("# T\na = env:A=B\n", ":2: env: needs"),
    ])
    func `An invalid line is named, and its value is not repeated`(text: String, fragment: String) throws {
        #expect(try problem(text).contains(fragment))
    }

    @Test func `A file that was not installed reads no environment variable`() throws {
        let text = "# T\nclient-id = env:HOME\n"
        #expect(
            try problem(text, mayReadEnvironment: false).contains(
                "acme.preset:2: env: is for presets that are found by their name"))
        #expect(throws: Never.self) { try parse("# T\na = text:env:HOME\n", mayReadEnvironment: false) }
    }

    @Test func `There is a limit to everything`() throws {
        let many = (0...16).map { "{a\($0)} = A\n" }.joined()
        #expect(try problem("# T\n\(many)").contains(":18: there are more than 16 placeholders"))
        #expect(try problem("# T\n" + String(repeating: "#", count: 64 << 10)).contains("larger than 64 KiB"))
        let error = try #require(throws: PresetError.self) {
            try PresetText([0x23, 0x20, 0xFF], path: "p", mayReadEnvironment: true)
        }
        #expect("\(error)" == "p: it is not UTF-8")
    }

    @Test(arguments: [
        "a", "acme.okta.com", "login.example.com:8443", "eu-central-1_a1B2c3D4e", "00000000-0000-0000-0000-000000000000",
    ])
    func `A name or identifier can stand for a placeholder`(value: String) {
        #expect(PresetText.isPlaceholderValue(value))
    }

    @Test(arguments: [
        "", "https://acme.okta.com", "acme.okta.com/", "/", "..", ".", "-", "a@b", "a?b", "a#b", "a%2fb", "a b", " a", "a\n",
        "a\\b", "{b}",
        "ä", "e\u{301}", String(repeating: "a", count: 256),
    ])
    func `What changes the URL around it can't stand for a placeholder`(value: String) {
        #expect(!PresetText.isPlaceholderValue(value))
    }

    @Test(arguments: [
        ("access_type=offline", "access_type"), ("prompt=", "prompt"), ("Metadata: true", "metadata"), ("a.b-c=d", "a.b-c"),
        ("https://api.example.com", nil), ("=a", nil), ("a", nil), ("", nil), (": a", nil), ("a b=c", nil), ("a:b", nil),
    ])
    func `A pair has a name`(text: String, name: String?) {
        #expect(PresetText.pairName(of: text) == name)
    }
}

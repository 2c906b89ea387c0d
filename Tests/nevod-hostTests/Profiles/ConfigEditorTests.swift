import Testing

@testable import nevod_host

@Suite struct ConfigEditorTests {
    private func edited(_ text: String, _ edit: (inout ConfigEditor) -> Void) -> String {
        var editor = ConfigEditor(Array(text.utf8))
        edit(&editor)
        return String(decoding: editor.bytes, as: UTF8.self)
    }

    @Test(
        "A section goes with the comments below its entries; those above the next one stay",
        arguments: [
            ("[a]\nfail\n", ""), ("[a]\n# 1\nfail\n# 2\n\n# 3\n[b]\n", "# 3\n[b]\n"),
            ("# 0\n[a] # x\n\n[b]\nfail\n", "# 0\n[b]\nfail\n"),
            ("[b]\nfail\n\n[a]", "[b]\nfail\n\n"), ("\u{FEFF}[a]\nfail\r\n\r\n[b]\r\n", "\u{FEFF}[b]\r\n"),
            ("[b]\nfail\n", "[b]\nfail\n"),
        ])
    func remove(text: String, rest: String) {
        #expect(edited(text) { $0.remove("a") } == rest)
    }

    @Test(
        "The default stands above the first section, and below the file's own comment",
        arguments: [
            ("", "default = a\n"), ("[a]\n", "default = a\n\n[a]\n"), ("# top\n\n[a]\n", "# top\n\ndefault = a\n\n[a]\n"),
            ("# of a\n[a]\n", "default = a\n\n# of a\n[a]\n"),
            ("# x\n default=b # y\n[a]\n[b]\n", "# x\ndefault = a\n[a]\n[b]\n"),
            ("\u{FEFF}[a]\n", "\u{FEFF}default = a\n\n[a]\n"),
        ])
    func setDefault(text: String, result: String) {
        #expect(edited(text) { $0.setDefault("a") } == result)
    }

    @Test("Without a default its line goes, and nothing else")
    func noDefault() {
        #expect(edited("# x\ndefault = a\n\n[a]\n") { $0.setDefault(nil) } == "# x\n\n[a]\n")
        #expect(edited("[a]\n") { $0.setDefault(nil) } == "[a]\n")
    }

    @Test("A name is replaced in place, and a section is appended after an empty line")
    func others() {
        #expect(edited("  [ a ] # x\n[ab]\n") { $0.rename("a", to: "c") } == "  [c] # x\n[ab]\n")
        #expect(edited("[a]") { $0.append("b", ["fail"]) } == "[a]\n\n[b]\nfail\n")
        #expect(edited("") { $0.append("b", []) } == "[b]\n")
    }
}

import Testing

@testable import nevod_host

@Suite struct ShellWordTests {
    @Test(
        "A shell reads a quoted word as the original text",
        arguments: [
            "plain-1_2./:", "", "a b", "it's", "'", "$(id);`id`", "a\nb", "ø", "\\", "-n", "~", "a=b", "'\u{301};id;'\u{301}",
        ])
    func roundTrip(text: String) throws {
        let (output, _) = try Shell.run("printf '<%s>' \(ShellWord.quoted(text))")
        #expect(output == "<\(text)>")
    }

    @Test("A word without special characters is not quoted", arguments: ["code", "a-b", "http://127.0.0.1:80/"])
    func plain(text: String) {
        #expect(ShellWord.quoted(text) == text)
    }
}

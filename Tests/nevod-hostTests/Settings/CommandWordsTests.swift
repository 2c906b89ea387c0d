import Testing

@testable import nevod_host

@Suite struct CommandWordsTests {
    @Test(
        "Words are split by spaces, and quotes keep them",
        arguments: [
            ("a", ["a"]), ("  a\t b ", ["a", "b"]), ("a 'b c'd", ["a", "b cd"]), ("a \"b 'c'\"", ["a", "b 'c'"]),
            ("a 'b\\n' \"c\\\"d\\e\"", ["a", "b\\n", "c\"de"]), ("a\\ b \\'c", ["a b", "'c"]), ("a '' \"\"", ["a", "", ""]),
            ("a $b *.c ;d", ["a", "$b", "*.c", ";d"]), ("a '\u{301}b'", ["a", "\u{301}b"]),
        ])
    func words(text: String, words: [String]) throws {
        #expect(try CommandWords.split(text) == words)
    }

    @Test(
        "A quote without its end, and a command without a program, are errors",
        arguments: [
            ("a 'b", CommandWordsError.unfinished("'")), ("a \"b\\\"", .unfinished("\"")), ("a \\", .unfinished("\\")),
            ("", .empty),
            (" \t", .empty), ("'' a", .empty),
        ])
    func errors(text: String, error: CommandWordsError) {
        #expect(throws: error) { try CommandWords.split(text) }
    }
}

@Suite struct ProgramSearchTests {
    @Test(arguments: [
        ("sh", "/nonexistent:/bin", "/bin/sh"), ("sh", "/nonexistent", nil), ("sh", "", nil), ("/bin/sh", "", "/bin/sh"),
        ("/nonexistent", "/bin", nil), ("/etc/passwd", "/bin", nil), ("not-a-command", "/bin:/usr/bin", nil),
    ])
    func `A program is looked up in PATH, unless it is a path`(name: String, folders: String, path: String?) {
        #expect(ProgramSearch.path(of: name, in: folders) == path)
    }
}

import Testing

@testable import nevod_host

@Suite struct PagerTests {
    @Test(
        "The command's words, or a shell for what is more than words",
        arguments: [
            ([:], ["less"]), (["PAGER": "more"], ["more"]), (["PAGER": "less -R  -X"], ["less", "-R", "-X"]),
            (["PAGER": "more", "NEVOD_PAGER": "most"], ["most"]), (["PAGER": "less | cat"], ["sh", "-c", "less | cat"]),
            (["PAGER": ""], nil), (["PAGER": " "], nil), (["PAGER": "cat"], nil), (["PAGER": "less", "NEVOD_PAGER": ""], nil),
        ] as [([String: String], [String]?)])
    func command(given: [String: String], words: [String]?) {
        #expect(PagerCommand { given[$0] }?.words == words)
    }

    @Test("The pager's environment has what it needs, and no secrets")
    func environment() {
        #expect(
            PagerCommand.environment(["PATH=/bin", "TOKEN=x", "LC_ALL=C", "LESS=S", "https_proxy=http://a:b@c", "LESS_X", "=odd"])
                == ["PATH=/bin", "LC_ALL=C", "LESS=S", "LV=-c"])
    }

    @Test(
        "Rows as a terminal of ten columns wraps them",
        arguments: [
            ("", 0), ("a\n", 1), ("0123456789\n", 1), ("0123456789a\n", 2), ("\u{1B}[1;34m0123456789\u{1B}[0m\n", 1),
            ("\t89\n", 1),
            ("\t89a\n", 2), ("éééééééééé\r\n", 1), ("a\n\n\nb", 3),
        ])
    func rows(text: String, rows: Int) {
        var screen = ScreenRows()
        for byte in text.utf8 { screen.add([byte], columns: 10) }
        #expect(screen.rows == rows)
    }
}

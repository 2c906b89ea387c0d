import Testing

@testable import nevod_host

@Suite struct TextLayoutTests {
    @Test("Text is wrapped at its spaces, and a long word stays whole")
    func paragraph() {
        let layout = TextLayout(width: 40)
        let text = "one two three four five six seven eight nine https://example.com/a/long/address/that/is/longer"
        let lines = layout.paragraph(text, indent: 2).split(separator: "\n")
        #expect(lines.map { $0.drop { $0 == " " } }.joined(separator: " ") == text)
        #expect(lines.allSatisfy { $0.hasPrefix("  ") && ($0.count <= 40 || !$0.dropFirst(2).contains(" ")) })
        #expect(layout.paragraph("") == "")
        #expect(layout.paragraph("a\n\nb") == "a\n\nb")
    }

    @Test("Meanings are beside their terms, or below a term that is too long")
    func definitions() {
        let text = TextLayout(width: 44).definitions(
            [
                ("-a", "first"), ("--long-word VALUE", "second meaning of several words"),
                (String(repeating: "x", count: 40), "third"),
            ])
        #expect(
            text == """
                  -a                 first
                  --long-word VALUE  second meaning of
                                     several words
                  \(String(repeating: "x", count: 40))
                                     third
                """)
    }

    @Test("A width is kept within what can be read", arguments: [(0, 40), (-1, 40), (80, 80), (Int.max, 110), (Int.min, 40)])
    func widths(given: Int, used: Int) {
        #expect(TextLayout(width: given).width == used)
    }

    @Test("Every topic and command fits into narrow and wide lines", arguments: [40, 60, 80, 110])
    func fits(width: Int) throws {
        let layout = TextLayout(width: width)
        for word in HelpTopic.all.map(\.name) + Command.words {
            let text = try Help.text(about: word, layout)
            for line in text.split(separator: "\n") where width >= 80 {
                #expect(line.count <= width || !line.drop { $0 == " " }.contains(" "), "\(word): \(line)")
            }
        }
    }
}

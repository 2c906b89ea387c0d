import NevodSupport
import NevodTestSupport
import Testing

@testable import nevod_host

@Suite struct TerminalFilterTests {
    private func safe(_ pieces: [[UInt8]]) -> String {
        var filter = TerminalFilter()
        let bytes = pieces.flatMap { filter.safe($0) } + filter.finish()
        return String(validating: bytes, as: UTF8.self) ?? "not UTF-8"
    }

    @Test(
        "What controls a terminal becomes an escape; line breaks, tabs and other text stay",
        arguments: [
            ("", ""), ("a\tb\nc\r\nd", "a\tb\nc\r\nd"), ("æøå 日本 😀 e\u{301}", "æøå 日本 😀 e\u{301}"),
            ("\u{1B}]0;owned\u{07}\u{1B}[2J", "\\u{1b}]0;owned\\u{7}\\u{1b}[2J"), ("a\rb", "a\\u{d}b"), ("a\r", "a\\u{d}"),
            ("a\r\r\nb", "a\\u{d}\r\nb"), ("\0\u{7F}\u{80}\u{9B}1m\u{A0}", "\\u{0}\\u{7f}\\u{80}\\u{9b}1m\u{A0}"),
            ("a\u{202E}b\u{2066}c\u{200F}", "a\\u{202e}b\\u{2066}c\\u{200f}"),
        ])
    func text(text: String, expected: String) {
        #expect(safe([Array(text.utf8)]) == expected)
        #expect(safe(text.utf8.map { [$0] }) == expected)
    }

    @Test("Bytes that are not UTF-8 are each shown as an escape")
    func bytes() {
        #expect(safe([[0x61, 0x9B, 0x33]]) == "a\\x9b3")
        #expect(safe([[0xC3, 0xA9, 0xC3]]) == "é\\xc3")
        #expect(safe([[0xE2, 0x82], [0x41, 0xFF, 0xC0, 0x80]]) == "\\xe2\\x82A\\xff\\xc0\\x80")
        #expect(safe([[0xF0, 0x9F], [0x98], [0x80, 0xED, 0xA0, 0x80]]) == "😀\\xed\\xa0\\x80")
        #expect(safe([[0xF4, 0x90, 0x80, 0x80, 0xE0, 0x80, 0xAF]]) == "\\xf4\\x90\\x80\\x80\\xe0\\x80\\xaf")
        #expect(safe([[0xE2, 0x80], []]) == "\\xe2\\x80")
    }

    @Test("Random bytes, cut anywhere, give UTF-8 without anything that controls a terminal")
    func random() {
        var random = SeededRandom(seed: 3)
        // Bytes that begin, continue and break sequences are frequent.
        let bytes: [UInt8] = [
            0x1B, 0x5B, 0x0D, 0x0A, 0x00, 0x41, 0xC2, 0x9B, 0xE2, 0x80, 0xAE, 0x8F, 0xF0, 0x9F, 0x98, 0xED, 0xA0, 0xFF, 0x7F,
            0xD8, 0x9C,
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...24, using: &random)).map { _ in bytes.randomElement(using: &random) ?? 0 }
            var rest = text[...]
            var pieces: [[UInt8]] = []
            while !rest.isEmpty {
                let count = Int.random(in: 1...4, using: &random)
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            let shown = safe(pieces)
            guard shown == safe([text]) else {
                Issue.record("\(text) is shown in two ways")
                return
            }
            let unsafe = shown.replacing("\r\n", with: "").unicodeScalars.contains { $0.isUnsafeAtTerminal && $0 != "\n" }
            guard !unsafe, shown != "not UTF-8" else {
                Issue.record("\(text) is shown as \(shown.debugDescription)")
                return
            }
        }
    }

    @Test("A long text in many pieces takes little memory at a time")
    func pieces() {
        var filter = TerminalFilter()
        let piece = [UInt8](repeating: 0x1B, count: 1000)
        for _ in 0..<100 { #expect(filter.safe(piece).count == 6000) }
        #expect(filter.finish() == [])
    }
}

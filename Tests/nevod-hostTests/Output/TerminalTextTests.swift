import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import nevod_host

@Suite struct TerminalTextTests {
    @Test(
        "Control characters and changes of the writing direction are shown as escapes",
        arguments: [
            ("", ""), ("X-A: b\tc", "X-A: b\tc"), ("æøå 日本 😀 e\u{301}", "æøå 日本 😀 e\u{301}"),
            ("\u{1B}]0;owned\u{07}", "\\u{1b}]0;owned\\u{7}"), ("a\r\nb\0", "a\\u{d}\\u{a}b\\u{0}"),
            ("\u{7F}\u{80}\u{9B}1m\u{9F}\u{A0}", "\\u{7f}\\u{80}\\u{9b}1m\\u{9f}\u{A0}"),
            ("a\u{202E}b\u{2066}c\u{2069}\u{200F}", "a\\u{202e}b\\u{2066}c\\u{2069}\\u{200f}"),
            ("a\u{2028}b\u{200D}c", "a\\u{2028}b\u{200D}c"), ("\\x1b", "\\x1b"),
            // Unsafe although it forms one Character with the letter before it.
            ("e\u{301}\u{200E}", "e\u{301}\\u{200e}"),
        ])
    func text(text: String, safe: String) {
        #expect(TerminalText.safe(text) == safe)
        #expect(TerminalText.safe(text.utf8) == safe)
    }

    @Test("Bytes that are not UTF-8 are each shown as an escape")
    func bytes() {
        #expect(TerminalText.safe([0x61, 0x9B, 0x33, 0x31, 0x6D] as [UInt8]) == "a\\x9b31m")
        #expect(TerminalText.safe([0xC3, 0xA9, 0xC3] as [UInt8]) == "é\\xc3")
        #expect(TerminalText.safe([0xE2, 0x82, 0x41, 0xFF, 0xC0, 0x80] as [UInt8]) == "\\xe2\\x82A\\xff\\xc0\\x80")
        #expect(TerminalText.safe([0xF0, 0x9F, 0x98, 0x80, 0xED, 0xA0, 0x80] as [UInt8]) == "😀\\xed\\xa0\\x80")
    }

    @Test("No control character remains")
    func every() {
        let unsafe = pairs(UInt8.min...UInt8.max, UInt8.min...UInt8.max).filter { first, second in
            TerminalText.safe([first, second]).unicodeScalars.contains {
                $0.properties.generalCategory == .control && $0 != "\t" || $0 == "\u{FFFD}"
            }
        }
        #expect(unsafe.map { [$0, $1] } == [])
    }
}

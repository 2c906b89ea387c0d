import NevodTestSupport
import Testing

@testable import CookieAuth

struct PatternTests {
    @Test(arguments: [
        ("", "", true), ("", "a", false), ("a", "a", true), ("a", "ab", false), ("a", "", false), ("*", "", true),
        ("*", "abc", true),
        ("**", "abc", true), ("a*", "a", true), ("a*", "abc", true), ("a*", "ba", false), ("*a", "a", true), ("*a", "ba", true),
        ("*a", "ab", false), ("a*b", "ab", true), ("a*b", "axxb", true), ("a*b", "a", false), ("a*a", "a", false),
        ("a*a", "aa", true), ("aba*aba", "ababa", false), ("a*b*c", "abbc", true), ("a*b*c", "acb", false),
        ("a*bc*c", "abc", false),
        ("*ab*", "xabx", true), ("*ab*", "xbax", false), ("a?c", "abc", false), ("a.c", "abc", false), ("A", "a", false),
        ("é", "e\u{301}", false), ("*\u{301}", "e\u{301}", true), ("e*", "e\u{301}", true),
    ])
    func `A star stands for any bytes`(pattern: String, text: String, matches: Bool) {
        #expect(Pattern(pattern).matches(text) == matches)
    }

    /// The judge tries every way to fill the stars.
    @Test func `Random patterns match what all ways to fill in their stars say`() {
        func judge(_ pattern: Substring.UTF8View, _ text: Substring.UTF8View) -> Bool {
            guard let first = pattern.first else { return text.isEmpty }
            if first == UInt8(ascii: "*") {
                return text.indices.contains { judge(pattern.dropFirst(), text[$0...]) }
                    || judge(pattern.dropFirst(), text.suffix(0))
            }
            return text.first == first && judge(pattern.dropFirst(), text.dropFirst())
        }
        var random = SeededRandom(seed: 20)
        func text(_ letters: [Character], _ most: Int) -> String {
            String((0..<Int.random(in: 0...most, using: &random)).compactMap { _ in letters.randomElement(using: &random) })
        }
        for _ in 0..<20_000 {
            let (pattern, text) = (text(["a", "b", "*"], 6), text(["a", "b"], 8))
            #expect(Pattern(pattern).matches(text) == judge(pattern[...].utf8, text[...].utf8), "\(pattern) \(text)")
        }
    }

    @Test(
        arguments: [
            ("", "a", 0), ("a", "a", 0), ("b", "aab", 2), ("ab", "aab", 1), ("aab", "aaaab", 2), ("c", "aab", nil),
            ("abc", "ab", nil),
            ("aa", "aba", nil), ("a", "", nil),
        ] as [(String, String, Int?)])
    func `The first place of bytes is found`(bytes: String, text: String, place: Int?) {
        #expect(Array(text.utf8).firstRange(ofBytes: Array(bytes.utf8))?.lowerBound == place)
    }

    /// A page that is crafted for a pattern must not cost the product of both lengths.
    @Test func `The search takes time in proportion to the sum of both lengths`() throws {
        let factor = try Growth.factor(2000) { size in
            (Array(repeating: UInt8(0x61), count: size), Array(repeating: UInt8(0x61), count: size / 2) + [0x62])
        } _: { text, wanted in
            #expect(text.firstRange(ofBytes: wanted) == nil)
        }
        #expect(factor < Growth.linear)
    }

    /// Both sizes come from a response. The length of the searched text comes from a setting.
    @Test func `The search takes time in proportion to the text`() throws {
        let pattern = Pattern("*\(String(repeating: "a", count: 20))b*b")
        let factor = try Growth.factor(20_000, { String(repeating: "a", count: $0) }, { _ = pattern.matches($0) })
        #expect(factor < Growth.linear)
    }
}

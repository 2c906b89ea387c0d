import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

struct CredentialSearchTests {
    private func search(_ items: String...) -> CredentialSearch {
        var search = CredentialSearch()
        for item in items { search.add(queryItem: Array(item.utf8)) }
        return search
    }

    private static func percent(_ text: [UInt8], lowercase: Bool) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            let isKept = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            let escape = "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: !lowercase)
            return isKept ? [byte] : Array(escape.utf8)
        }
    }

    private static func base64(_ text: [UInt8], url: Bool) -> [UInt8] {
        let alphabet = Array(
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + (url ? "-_" : "+/")).utf8)
        var letters: [UInt8] = []
        for start in stride(from: 0, to: text.count, by: 3) {
            let group = text[start..<min(start + 3, text.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for letter in 0...group.count { letters.append(alphabet[bits >> (18 - 6 * letter) & 63]) }
            if !url { letters += [UInt8](repeating: UInt8(ascii: "="), count: 3 - group.count) }
        }
        return letters
    }

    /// 4,000 nested URLs with the credential. The text before it differs, so that each alignment of base64 occurs.
    @Test func `A credential is found in every nesting of up to three percent-encodings around base64`() {
        var random = SeededRandom(seed: 6)
        let value = "s3cr et/+~é&=%41x"
        let search = search("key=\(value)")
        for round in 0..<4000 {
            let before = String(
                (0..<Int.random(in: 0...7, using: &random)).map { _ in "abc/?".randomElement(using: &random) ?? "a" })
            var text = Array("https://h/\(before)?x=1&key=".utf8) + PercentEncoding.queryItem(value.utf8) + Array("&y=2".utf8)
            var steps: [String] = []
            // Base64 at most once, at any place in the order.
            let turn = Int.random(in: 0...6, using: &random)
            for step in 0..<Int.random(in: 0...3, using: &random) {
                if step == turn {
                    let isURL = Bool.random(using: &random)
                    text = Self.base64(text, url: isURL)
                    steps.append("base64")
                }
                text = Self.percent(text, lowercase: Bool.random(using: &random))
                steps.append("percent")
            }
            if turn == 6 { text = Self.base64(text, url: round % 2 == 0) }
            #expect(search.isFound(in: Array("next=".utf8) + text), "\(before) \(steps) \(turn)")
        }
    }

    @Test(arguments: [
        "a=1", "next=https%3A%2F%2Fh%2F%3Fx%3D1", "aHR0cHM6Ly9oLz94PTE", "", "%", "%%%", "key", "key=", "=secret-value",
        "k3y=other", "/a/b/c/d/e/f/g/h/i/j/k/l",
    ])
    func `Other text holds no credential`(text: String) {
        #expect(!search("key=my-secret-value").isFound(in: text.utf8))
    }

    @Test func `A short value is found only with its name`() {
        let search = search("pin=42", "token")
        #expect(search.isFound(in: "next=%2Fa%3Fpin%3D42".utf8))
        #expect(search.isFound(in: "pin=42".utf8))
        #expect(search.isFound(in: "a%26token".utf8))
        for text in ["n=42", "spin=42", "a=1042", "mytoken"] { #expect(!search.isFound(in: text.utf8), "\(text)") }
        #expect(!CredentialSearch().isFound(in: "pin=42".utf8))
        #expect(!self.search("", "pin=").isFound(in: "pin=".utf8))
    }

    @Test func `A plus sign may stand for a space`() {
        #expect(search("key=one two three").isFound(in: "x=one+two+three".utf8))
        #expect(search("key=one two three").isFound(in: "x=one%2Btwo%20three".utf8))
    }

    /// A text that makes a naive search slow: the credential without its last byte, repeated.
    @Test func `The search takes time in proportion to the text`() {
        let search = search("key=" + String(repeating: "a", count: 4000) + "b")
        func time(_ count: Int) -> Duration {
            let text = [UInt8](repeating: UInt8(ascii: "a"), count: count)
            return (0..<3).map { _ in ContinuousClock().measure { #expect(!search.isFound(in: text)) } }.min() ?? .zero
        }
        // A naive search would take 4,000 steps for each byte, which takes minutes in a debug build.
        #expect(time(400_000) < .seconds(30))
    }
}

/// A server's own words about an error (`error_description`), as an error of ours may show them: printable ASCII, short, and without
/// anything that could be a token.
struct ServerWords {
    private static let most = 240
    /// The shortest run of a token's characters that is left out. Codes of errors and the numbers by which support finds a request are
    /// shorter, tokens with 256 bits are longer.
    private static let shortestToken = 40

    private let text: String

    init(_ words: String?) {
        var shown: [UInt8] = []
        var run = 0
        // A bound on the work as well.
        for byte in (words ?? "").utf8.prefix(Self.most * 4) {
            run = Self.isTokenCharacter(byte) ? run + 1 : 0
            switch byte {
            case UInt8(ascii: "\""): shown.append(UInt8(ascii: "'"))
            case 0x21...0x7E: shown.append(byte)
            // Of several spaces, and of other characters, one space remains.
            default: if let last = shown.last, last != 0x20 { shown.append(0x20) }
            }
            if run == Self.shortestToken {
                shown.removeLast(run)
                shown += "[...]".utf8
            } else if run > Self.shortestToken {
                shown.removeLast()
            }
        }
        while shown.last == 0x20 { shown.removeLast() }
        if shown.count > Self.most {
            shown.removeLast(shown.count - Self.most)
            shown += "...".utf8
        }
        text = String(decoding: shown, as: UTF8.self)
    }

    /// Without quotation marks, for a code or an address.
    var plain: String { text }
    /// To be appended to a sentence: ` ("No such scope")`; empty without words.
    var quoted: String { text.isEmpty ? "" : " (\"\(text)\")" }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}

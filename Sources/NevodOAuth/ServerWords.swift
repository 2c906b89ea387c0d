package import NevodSupport

/// Makes a server's words safe to show in an error: a server may repeat a secret that it was sent, or write control characters
/// for a terminal.
package enum ServerWords {
    /// The longest text that is shown, in bytes, without the dots that replace the rest.
    package static let limit = 240
    private static let mostRead = 2000
    /// A text that repeats this many bytes of a secret is not shown.
    private static let piece = 8
    /// A shorter secret would match unrelated words.
    private static let shortestSecret = 4

    /// Returns a message as printable ASCII, cut if it is long. `...` replaces words that look like a token. Empty if the rest
    /// repeats eight bytes of a secret, or all of a shorter one.
    package static func text(_ message: String, hiding secrets: [Secret] = []) -> String {
        var shown: [UInt8] = []
        var word: [UInt8] = []
        func endWord() {
            let isLikeToken = word.count >= (word.contains { $0.isDigit } ? 16 : 40)
            shown += isLikeToken ? Array("...".utf8) : word
            word = []
        }
        for byte in message.utf8.prefix(mostRead) {
            // The characters of a bearer token (RFC 6750 §2.1).
            if byte.isUnreserved || "+/=".utf8.contains(byte) {
                word.append(byte)
                continue
            }
            endWord()
            if byte.isVisible { shown.append(byte) } else if shown.last != UInt8(ascii: " ") { shown.append(UInt8(ascii: " ")) }
        }
        // A word that is cut may be the beginning of a token.
        if message.utf8.count <= mostRead { endWord() }
        while shown.last == UInt8(ascii: " ") { shown.removeLast() }
        if shown.count > limit { shown = Array(shown.prefix(limit)) + "...".utf8 }
        guard !repeats(shown, secrets) else { return "" }
        return String(decoding: shown.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
    }

    /// Returns ``text(_:hiding:)`` in parentheses, after a space; empty if there are no words to show.
    package static func inParentheses(_ message: String?, hiding secrets: [Secret] = []) -> String {
        let words = text(message ?? "", hiding: secrets)
        return words.isEmpty ? "" : " (\(words))"
    }

    /// Returns an error code; nil for a text that no server may send (RFC 6749 §5.2), or that repeats a secret. A known code is
    /// returned even then.
    package static func code(_ text: String, hiding secrets: [Secret] = []) -> String? {
        guard !text.isEmpty, text.utf8.count <= 64,
            text.utf8.allSatisfy({ $0.isPrintable && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }),
            OAuthErrorMeaning(code: text, status: nil) != .unknown || !repeats(Array(text.utf8), secrets)
        else { return nil }
        return text
    }

    /// Returns a name or an address, cut if it is long. Keeps long words, which it needs. Bytes that aren't printable ASCII become
    /// question marks.
    package static func name(_ text: String) -> String {
        var bytes = text.utf8.prefix(limit).map { $0.isPrintable && $0 != UInt8(ascii: "\"") ? $0 : UInt8(ascii: "?") }
        if text.utf8.count > limit { bytes += "...".utf8 }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns ``name(_:)`` in quotation marks.
    package static func quoted(_ text: String) -> String { "\"\(name(text))\"" }

    /// Whether a text repeats a secret: unchanged, percent-encoded, in base64, or with bytes in between that would not be shown.
    private static func repeats(_ text: [UInt8], _ secrets: [Secret]) -> Bool {
        guard !secrets.isEmpty else { return false }
        var texts = EncodedText.decodings(of: text)
        for run in texts.flatMap({ EncodedText.base64Runs(in: $0) }) { texts += EncodedText.decodings(of: run) }
        let pieces = Pieces(of: texts + texts.map { $0.filter(isUnchanged) })
        return secrets.contains { secret in
            secret.withUnsafeBytes { bytes in pieces.hold(bytes) || pieces.hold(bytes.lazy.filter { isUnchanged($0) }) }
        }
    }

    /// Whether a byte remains the same in any server's text. A plus may replace a space, and an escape or an encoding other than
    /// UTF-8 may replace all others.
    private static func isUnchanged(_ byte: UInt8) -> Bool {
        byte.isVisible && byte != UInt8(ascii: "+") && byte != UInt8(ascii: "\\")
    }

    /// All pieces of some short texts, so that a search takes linear time in the length of a secret.
    private struct Pieces {
        private var known = [Set<UInt64>](repeating: [], count: piece + 1)

        init(of texts: [[UInt8]]) {
            for width in shortestSecret...piece {
                for text in texts {
                    var window = Window(width: width)
                    for byte in text { if let piece = window.slide(over: byte) { known[width].insert(piece) } }
                }
            }
        }

        func hold(_ secret: some Collection<UInt8>) -> Bool {
            let width = min(piece, secret.count)
            guard width >= shortestSecret else { return false }
            var window = Window(width: width)
            return secret.contains { byte in window.slide(over: byte).map { known[width].contains($0) } ?? false }
        }
    }

    /// The last bytes of a text as a number: at most eight.
    private struct Window {
        let width: Int
        private var count = 0
        private var bytes: UInt64 = 0

        init(width: Int) {
            self.width = width
        }

        /// - Returns: nil while there are fewer bytes than the width.
        mutating func slide(over byte: UInt8) -> UInt64? {
            bytes = (bytes << 8 | UInt64(truncatingIfNeeded: byte)) & (.max >> (64 - 8 * width))
            count = min(count + 1, width)
            return count < width ? nil : bytes
        }
    }
}

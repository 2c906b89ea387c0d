internal import NevodSupport

/// Makes what a server says fit for an error: a server may repeat what it was sent, or write for a terminal.
enum ServerWords {
    private static let longest = 200
    /// A piece of a secret of this length is not shown.
    private static let piece = 8
    /// A shorter secret would match unrelated words.
    private static let shortestSecret = 4

    /// Returns the words in parentheses, after a space; empty if there are none to show.
    ///
    /// - Parameter secrets: words that repeat one of them are not shown; see ``repeats(_:_:)``.
    static func shown(_ text: String?, hiding secrets: [String]) -> String {
        guard let text, !text.isEmpty, !repeats(text, secrets) else { return "" }
        let words = text.utf8.prefix(longest).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
        return " (\(String(decoding: words, as: UTF8.self))\(text.utf8.count > longest ? "…" : ""))"
    }

    /// Whether the shown part of a text repeats eight bytes of a secret, or all of a shorter one: as it is, percent-encoded, in base64,
    /// or with other bytes in between that would not be shown.
    static func repeats(_ text: String, _ secrets: [String]) -> Bool {
        guard !secrets.isEmpty else { return false }
        let forms = CredentialSearch.decodings(of: Array(text.utf8.prefix(longest)))
        let texts = forms + forms.flatMap(CredentialSearch.base64Runs).flatMap(CredentialSearch.decodings)
        let searched = Pieces(of: texts + texts.map(visible))
        return secrets.contains { secret in
            [Array(secret.utf8), visible(Array(secret.utf8))].contains {
                let width = min(piece, $0.count)
                return width >= shortestSecret && searched.holdsPiece(of: $0, width)
            }
        }
    }

    /// The bytes that any server's text of a secret keeps: a plus may stand for a space, and an escape or another encoding than UTF-8
    /// for all others.
    private static func visible(_ text: [UInt8]) -> [UInt8] {
        text.filter { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "\\") }
    }

    /// All pieces of some short texts, so that the search takes a time linear in the length of a secret.
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

        func holdsPiece(of secret: [UInt8], _ width: Int) -> Bool {
            var window = Window(width: width)
            return secret.contains { byte in window.slide(over: byte).map(known[width].contains) == true }
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

extension OAuthErrorCode {
    /// Nil for a text that no server may send (RFC 6749 §5.2), and that no error should show.
    ///
    /// - Parameter secrets: what the request held; a text that repeats one, and isn't a known code, is none.
    init?(received text: String, hiding secrets: [String]) {
        guard !text.isEmpty, text.utf8.count <= 64,
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }),
            OAuthErrorMeaning(code: text, status: nil) != .unknown || !ServerWords.repeats(text, secrets)
        else { return nil }
        self.init(rawValue: text)
    }
}

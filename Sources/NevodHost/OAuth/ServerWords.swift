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
    /// - Parameter secrets: words that repeat eight characters of one, or all of a shorter one, are not shown.
    static func shown(_ text: String?, hiding secrets: [String]) -> String {
        guard let text, !text.isEmpty else { return "" }
        let words = text.utf8.prefix(longest).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
        let more = text.utf8.count > longest ? "…" : ""
        guard !secrets.contains(where: { repeats(words, Array($0.utf8)) }) else { return "" }
        return " (\(String(decoding: words, as: UTF8.self))\(more))"
    }

    private static func repeats(_ words: [UInt8], _ secret: [UInt8]) -> Bool {
        let width = min(piece, secret.count)
        guard width >= shortestSecret, words.count >= width else { return false }
        let pieces = Set((0...words.count - width).map { words[$0..<$0 + width] })
        return (0...secret.count - width).contains { pieces.contains(secret[$0..<$0 + width]) }
    }
}

/// Quotes a text as one word of a shell command.
enum ShellWord {
    /// Returns the text for any shell: in single quotes, unless no character in it is special.
    static func quoted(_ text: String) -> String {
        !text.isEmpty && text.utf8.allSatisfy(isPlain) ? text : inSingleQuotes(text)
    }

    /// By bytes: with a combining mark behind it, a quote is no Character of its own, and would stay as it is.
    static func inSingleQuotes(_ text: String) -> String {
        let parts = text.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: #"'\''"#) + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}

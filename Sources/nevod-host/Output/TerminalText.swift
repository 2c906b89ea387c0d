/// Makes text that others wrote safe to print: a server's reason phrase, a header's value, an argument can hold sequences that
/// clear a terminal, rename its window, or turn the direction of writing.
enum TerminalText {
    /// One line, with escapes (`\u{1b}`) in place of what isn't text.
    static func safe(_ text: some StringProtocol) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return String(text) }
        var safe = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                safe += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // C0 but tab, DEL, C1; the marks, embeddings, overrides and isolates of writing direction; line separators.
        case 0x00...0x08, 0x0A...0x1F, 0x7F...0x9F, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

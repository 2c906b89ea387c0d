/// Makes text that others wrote safe to print: a server's reason phrase, a header's value, an argument can hold sequences that
/// clear a terminal, rename its window, or turn the direction of writing.
package enum TerminalText {
    /// One line, with escapes (`\u{1b}`) in place of what isn't text.
    package static func safe(_ text: some StringProtocol) -> String {
        guard text.unicodeScalars.contains(where: \.isUnsafeAtTerminal) else { return String(text) }
        var safe = ""
        for scalar in text.unicodeScalars {
            if scalar.isUnsafeAtTerminal {
                safe += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }
}

/// Makes untrusted text safe to print. A server's reason phrase, a header's value or an argument can hold sequences that clear a
/// terminal, rename its window, or reverse the direction of writing.
package enum TerminalText {
    /// The text on one line, with unsafe characters as escapes (`\u{1b}`).
    package static func safe(_ text: some StringProtocol) -> String {
        guard text.unicodeScalars.contains(where: { $0.isUnsafeAtTerminal }) else { return String(text) }
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

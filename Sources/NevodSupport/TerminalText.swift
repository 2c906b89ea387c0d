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

extension Unicode.Scalar {
    /// Whether the character controls a terminal or can mislead a reader: C0 controls except the tab, DEL, C1 controls, the two
    /// line separators, and the controls of writing direction (UAX #9 §2).
    package var isUnsafeAtTerminal: Bool {
        switch value {
        case 0x09: false
        case 0x00...0x1F, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// The scalar's value in at least four hexadecimal digits.
    package var hexadecimal: String { value.padded(to: 4, radix: 16) }
}

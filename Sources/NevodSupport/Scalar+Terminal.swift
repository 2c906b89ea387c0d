extension Unicode.Scalar {
    /// Whether the character controls a terminal or can mislead a reader: C0 controls but the tab, DEL, C1 controls, the two
    /// line separators, and the controls of writing direction (UAX #9 §2).
    package var isUnsafeAtTerminal: Bool {
        switch value {
        case 0x09: false
        case 0x00...0x1F, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// The scalar's value in at least four hexadecimal digits.
    package var hexadecimal: String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, 4 - text.count)) + text
    }
}

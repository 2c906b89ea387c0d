/// Two digits a byte.
enum Hexadecimal {
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Nil unless it is an even number of digits.
    static func bytes(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        let digits = text.compactMap(value)
        guard digits.count == text.count else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static func value(_ digit: UInt8) -> Int? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(digit) - 48
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(digit) - 87
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(digit) - 55
        default: nil
        }
    }
}

internal import NevodSupport

/// The characters of structured fields (RFC 9651 §3).
enum StructuredText {
    static func beginsKey(_ byte: UInt8) -> Bool { isLowerCase(byte) || byte == UInt8(ascii: "*") }

    static func isInKey(_ byte: UInt8) -> Bool {
        isLowerCase(byte) || isDigit(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "*")
    }

    static func beginsToken(_ byte: UInt8) -> Bool {
        isLowerCase(byte.asciiLowercased) || byte == UInt8(ascii: "*")
    }

    static func isInToken(_ byte: UInt8) -> Bool {
        byte.isTokenByte || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "/")
    }

    /// The byte of two digits, of which letters must be lower-case (RFC 9651 §4.2.10).
    static func lowerCaseByte(_ high: UInt8, _ low: UInt8) -> UInt8? {
        guard high == high.asciiLowercased, low == low.asciiLowercased else { return nil }
        return Hexadecimal.byte(high, low)
    }

    private static func isLowerCase(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }
    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}

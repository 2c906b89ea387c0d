extension UInt8 {
    /// Whether the byte may stand in a token: the name of a method, a field or a cookie (RFC 9110 §5.6.2).
    @inlinable
    package var isTokenByte: Bool {
        // One bit for each byte: ! # $ % & ' * + - . 0-9, and A-Z ^ _ ` a-z | ~.
        self < 64
            ? 0x03FF_6CFA_0000_0000 as UInt64 >> UInt64(self) & 1 == 1
            : self < 128 && 0x57FF_FFFF_C7FF_FFFE as UInt64 >> UInt64(self &- 64) & 1 == 1
    }

    /// The byte, an upper-case ASCII letter in lower case. HTTP compares names so.
    @inlinable
    package var asciiLowercased: UInt8 {
        self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
    }
}

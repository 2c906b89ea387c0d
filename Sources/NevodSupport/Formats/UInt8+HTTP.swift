extension UInt8 {
    /// Whether the byte may stand in a token: the name of a method, a field or a cookie (RFC 9110 §5.6.2).
    @inlinable
    package var isTokenByte: Bool {
        self < 128 && tokenBytes.utf8Start[Int(self)] == UInt8(ascii: "1")
    }

    /// The byte, an upper-case ASCII letter in lower case. HTTP compares names so.
    @inlinable
    package var asciiLowercased: UInt8 {
        self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
    }
}

/// One digit for each of the first 128 bytes, from NUL to "?" and from "@" to DEL: the fastest of the forms tried.
@usableFromInline
package let tokenBytes: StaticString = """
    0000000000000000000000000000000001011111001101101111111111000000\
    0111111111111111111111111110001111111111111111111111111111101010
    """

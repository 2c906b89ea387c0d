/// Base32 (RFC 4648 §6).
package enum Base32 {
    /// The bytes of a text as people write keys: in upper or lower case, in groups, with or without padding.
    ///
    /// - Returns: nil if the text has another character, or a number of characters that can't encode bytes.
    package static func secret(_ text: UnsafeRawBufferPointer) -> Secret? {
        var bytes = WipedBytes(capacity: max(1, text.count))
        var bits: UInt16 = 0
        var bitCount = 0
        var isPadded = false
        for byte in text {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "-"): continue
            case UInt8(ascii: "="): isPadded = true
            default:
                guard !isPadded, let value = value(of: byte) else { return nil }
                bits = bits << 5 | UInt16(value)
                bitCount += 5
                if bitCount >= 8 {
                    bitCount -= 8
                    bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
                }
            }
        }
        // The unused bits of a last digit are ignored. Five or more bits mean that a digit was lost.
        return bitCount < 5 ? bytes.secret : nil
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit.lowercased {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit.lowercased - UInt8(ascii: "a")
        case UInt8(ascii: "2")...UInt8(ascii: "7"): digit - UInt8(ascii: "2") + 26
        default: nil
        }
    }
}

/// The escapes in JSON's strings (RFC 8259 §7).
package enum JSONEscape {
    /// The byte that a one-letter escape (`\n`) stands for; nil if there is no such escape.
    static func character(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// Appends the scalar of an escape as UTF-8. A `\u` escape of a lead surrogate takes the trail surrogate behind it along.
    ///
    /// - Parameter index: the byte after the backslash; then the byte after the escape.
    /// - Returns: false for an escape that doesn't exist, and for an unpaired surrogate; then nothing is read.
    package static func decode(_ bytes: Span<UInt8>, at index: inout Int, into text: inout [UInt8]) -> Bool {
        guard index < bytes.count else { return false }
        guard bytes[index] == UInt8(ascii: "u") else {
            guard let character = character(bytes[index]) else { return false }
            text.append(character)
            index += 1
            return true
        }
        guard let first = codeUnit(bytes, at: index + 1) else { return false }
        if let scalar = Unicode.Scalar(UInt32(first)) {
            text.append(contentsOf: scalar.utf8)
            index += 5
            return true
        }
        guard UTF16.isLeadSurrogate(first), index + 6 < bytes.count, bytes[index + 5] == UInt8(ascii: "\\"),
            bytes[index + 6] == UInt8(ascii: "u"), let second = codeUnit(bytes, at: index + 7),
            UTF16.isTrailSurrogate(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) & 0x3FF) << 10 + UInt32(second) & 0x3FF)
        else { return false }
        text.append(contentsOf: scalar.utf8)
        index += 11
        return true
    }

    private static func codeUnit(_ bytes: Span<UInt8>, at index: Int) -> UInt16? {
        guard index + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for offset in 0..<4 {
            guard let digit = Hexadecimal.value(of: bytes[index + offset]) else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}

/// Percent-encoding (RFC 3986 §2.1).
public enum PercentEncoding {
    /// The escape of a byte: `%` and two upper-case digits.
    package static func escape(_ byte: UInt8) -> InlineArray<3, UInt8> {
        [UInt8(ascii: "%"), Hexadecimal.upperCaseDigit(byte >> 4), Hexadecimal.upperCaseDigit(byte & 15)]
    }

    /// Appends the escape of a byte.
    package static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(Hexadecimal.upperCaseDigit(byte >> 4))
        bytes.append(Hexadecimal.upperCaseDigit(byte & 15))
    }

    /// A name or a value in a query: all but the unreserved characters (RFC 3986 §2.3), which every server reads alike, is encoded.
    package static func queryItem(_ text: some Sequence<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in text {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            default: append(byte, to: &bytes)
            }
        }
        return bytes
    }

    /// The text with its bytes beyond ASCII encoded, and no others.
    package static func withoutNonASCII(_ text: [UInt8]) -> String {
        var bytes: [UInt8] = []
        for byte in text {
            if byte < 0x80 { bytes.append(byte) } else { append(byte, to: &bytes) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The byte whose escape begins at an index; nil if no `%` with two digits is there.
    @inlinable
    package static func byte(escapedAt index: Int, in text: Span<UInt8>) -> UInt8? {
        guard text[index] == UInt8(ascii: "%"), index + 2 < text.count else { return nil }
        return Hexadecimal.byte(text[index + 1], text[index + 2])
    }

    /// The text with its escapes resolved. A `%` without two digits after it stays.
    ///
    /// - Parameter plusIsSpace: whether a plus is the space that forms write with it.
    package static func decoded(_ text: some Sequence<UInt8>, plusIsSpace: Bool = true) -> [UInt8] {
        let text = Array(text)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            if let byte = byte(escapedAt: index, in: text.span) {
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(plusIsSpace && text[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : text[index])
                index += 1
            }
        }
        return bytes
    }

    /// The text with its escapes resolved; nil if a `%` begins none.
    package static func strictlyDecoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
        let text = Array(text)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            if text[index] != UInt8(ascii: "%") {
                bytes.append(text[index])
                index += 1
            } else if let byte = byte(escapedAt: index, in: text.span) {
                bytes.append(byte)
                index += 3
            } else {
                return nil
            }
        }
        return bytes
    }

    /// The text with its escapes resolved. A `%` without two digits after it stays, and bytes that aren't UTF-8 become replacement
    /// characters.
    ///
    /// - Parameters:
    ///   - text: with escapes.
    ///   - plusIsSpace: whether a plus is the space that forms write with it.
    public static func decoded(_ text: String, plusIsSpace: Bool = false) -> String {
        String(decoding: decoded(text.utf8, plusIsSpace: plusIsSpace), as: UTF8.self)
    }
}

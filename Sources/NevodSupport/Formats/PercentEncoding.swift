extension UInt8 {
    /// Whether the byte means the same in a URL with and without percent-encoding (RFC 3986 §2.3).
    @inlinable
    package var isUnreserved: Bool {
        isAlphanumeric || self == UInt8(ascii: "-") || self == UInt8(ascii: ".") || self == UInt8(ascii: "_")
            || self == UInt8(ascii: "~")
    }

    /// Whether a URL's scheme may contain the byte after its first letter (RFC 3986 §3.1).
    @inlinable
    package var isSchemeByte: Bool {
        isAlphanumeric || self == UInt8(ascii: "+") || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
    }
}

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

    /// Encodes a name or a value for a query. Only the unreserved characters (RFC 3986 §2.3) stay, which every server reads
    /// alike.
    package static func queryItem(_ text: some Sequence<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in text {
            if byte.isUnreserved { bytes.append(byte) } else { append(byte, to: &bytes) }
        }
        return bytes
    }

    /// The text with only its bytes outside ASCII encoded.
    package static func withoutNonASCII(_ text: [UInt8]) -> String {
        var bytes: [UInt8] = []
        for byte in text {
            if byte < 0x80 { bytes.append(byte) } else { append(byte, to: &bytes) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The byte whose escape begins at an index; nil if there is no `%` with two digits.
    @inlinable
    package static func byte(escapedAt index: Int, in text: Span<UInt8>) -> UInt8? {
        guard text[index] == UInt8(ascii: "%"), index + 2 < text.count else { return nil }
        return Hexadecimal.byte(text[index + 1], text[index + 2])
    }

    /// The text with its escapes resolved. A `%` without two digits after it stays.
    ///
    /// - Parameter plusIsSpace: whether a plus means a space, as in forms.
    package static func decoded(_ text: some Sequence<UInt8>, plusIsSpace: Bool = true) -> [UInt8] {
        decoded(Array(text).span, plusIsSpace: plusIsSpace)
    }

    /// The text with its escapes resolved. A `%` without two digits after it stays.
    package static func decoded(_ text: Span<UInt8>, plusIsSpace: Bool) -> [UInt8] {
        decode(text, plusIsSpace: plusIsSpace, isStrict: false) ?? []
    }

    /// The text with its escapes resolved; nil if a `%` doesn't begin an escape.
    package static func strictlyDecoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
        decode(Array(text).span, plusIsSpace: false, isStrict: true)
    }

    private static func decode(_ text: Span<UInt8>, plusIsSpace: Bool, isStrict: Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            if let byte = byte(escapedAt: index, in: text) {
                bytes.append(byte)
                index += 3
            } else {
                guard !isStrict || text[index] != UInt8(ascii: "%") else { return nil }
                bytes.append(plusIsSpace && text[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : text[index])
                index += 1
            }
        }
        return bytes
    }

    /// The text with its escapes resolved. A `%` without two digits after it stays. Bytes that aren't UTF-8 become replacement
    /// characters.
    ///
    /// - Parameters:
    ///   - text: with escapes.
    ///   - plusIsSpace: whether a plus means a space, as in forms.
    public static func decoded(_ text: String, plusIsSpace: Bool = false) -> String {
        String(decoding: decoded(text.utf8, plusIsSpace: plusIsSpace), as: UTF8.self)
    }
}

/// An item of a form, or of a query (`application/x-www-form-urlencoded`, WHATWG URL §5). Neither part is encoded.
package struct FormItem: Sendable, Equatable {
    /// Empty for an item that begins with `=`. Names may repeat.
    package let name: [UInt8]
    /// Empty for an item without `=`.
    package let value: [UInt8]

    /// The items of an encoded body, or of a query without its `?`, in order. Never fails: malformed escapes are kept as text.
    package static func items(of encoded: some Collection<UInt8>) -> [FormItem] {
        encoded.split(separator: UInt8(ascii: "&")).map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return FormItem(
                name: PercentEncoding.decoded(name), value: PercentEncoding.decoded(item[name.endIndex...].dropFirst()))
        }
    }
}

/// The bytes that a percent-encoding leaves as they are. All others become `%` and two upper-case hexadecimal digits.
///
/// ```swift
/// PercentEncodingSet.rfc3986.encoded("a b/ä")  // "a%20b%2F%C3%A4"
/// ```
public enum PercentEncodingSet: CaseIterable, Sendable {
    /// Keeps the unreserved characters alone (RFC 3986 §2.3): letters, digits, `-._~`. As OAuth 1, AWS and most signatures.
    case rfc3986
    /// As `rfc3986`, and keeps `/`: a path as AWS encodes it.
    case rfc3986Path
    /// Keeps the characters of a path's segments (RFC 3986 §3.3), and `/`.
    case path
    /// Keeps letters, digits and `*-._`, and writes a space as `+`: `application/x-www-form-urlencoded` (WHATWG URL §5.2).
    case form
    /// JavaScript's `encodeURIComponent`: keeps letters, digits and `-_.!~*'()`.
    case javaScriptComponent
    /// The sets of WHATWG URL §1.3, which keep `%`, except the component set.
    case whatwgFragment, whatwgQuery, whatwgSpecialQuery, whatwgPath, whatwgUserInfo
    /// The component set of WHATWG URL §1.3, without the `%` of the user-information set it extends.
    case whatwgComponent

    /// The text in UTF-8, percent-encoded.
    public func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.append(percentEncoded: text, as: self)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The largest length of an encoded text, for the capacity of a ``ByteWriter``.
    ///
    /// - Parameter bytes: the length of the text, which must be less than a third of the largest integer.
    public static func capacity(for bytes: Int) -> Int { bytes * 3 }

    /// A bit for each of the first 128 bytes.
    struct Kept {
        let low, high: UInt64

        func contains(_ byte: UInt8) -> Bool {
            guard byte < 128 else { return false }
            return (byte < 64 ? low : high) >> (byte & 63) & 1 == 1
        }

        /// Letters, digits, and the characters of a literal.
        init(_ others: StaticString) {
            var (low, high): (UInt64, UInt64) = (0x03FF_0000_0000_0000, 0x07FF_FFFE_07FF_FFFE)
            for index in 0..<others.utf8CodeUnitCount {
                let byte = others.utf8Start[index]
                if byte < 64 { low |= 1 << byte } else { high |= 1 << (byte & 63) }
            }
            (self.low, self.high) = (low, high)
        }

        private init(low: UInt64, high: UInt64) {
            (self.low, self.high) = (low, high)
        }

        /// Without `%`, `&` and `=`, which separate the parts of a query.
        var withoutSeparators: Kept { Kept(low: low & ~(1 << 0x25 | 1 << 0x26 | 1 << 0x3D), high: high) }
    }

    /// The byte that stands for a space, beside its escape.
    var space: UInt8? { self == .form ? UInt8(ascii: "+") : nil }

    var kept: Kept {
        switch self {
        case .rfc3986: Kept("-._~")
        case .rfc3986Path: Kept("-._~/")
        case .path: Kept("-._~!$&'()*+,;=:@/")
        case .form: Kept("*-._")
        case .javaScriptComponent: Kept("-_.!~*'()")
        case .whatwgFragment: Kept("!#$%&'()*+,-./:;=?@[\\]^_{|}~")
        case .whatwgQuery: Kept("!$%&'()*+,-./:;=?@[\\]^_`{|}~")
        case .whatwgSpecialQuery: Kept("!$%&()*+,-./:;=?@[\\]^_`{|}~")
        case .whatwgPath: Kept("!$%&'()*+,-./:;=@[\\]_|~")
        case .whatwgUserInfo: Kept("!$%&'()*+,-._~")
        case .whatwgComponent: Kept("!'()*-._~")
        }
    }
}

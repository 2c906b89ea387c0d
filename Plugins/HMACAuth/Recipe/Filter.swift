internal import NevodPluginCrypto
internal import NevodPluginKit

/// A function in a template, from bytes to bytes. Ranges refer to the recipe's bytes.
enum Filter: Sendable, Equatable {
    case hash(HashFunction)
    case hmac(HashFunction, Key)
    case encode(TextEncoding)
    case decode(TextEncoding)
    case percentEncode(EscapeSet)
    case percentDecode(plusIsSpace: Bool)
    case lower, upper, trim, collapse, json
    /// The number of bytes, in decimal digits.
    case length
    case prefix(Range<Int>)
    case suffix(Range<Int>)
    case fallback(Range<Int>)
    case withoutPrefix(Range<Int>)
    case withoutSuffix(Range<Int>)
    /// The text before or after the first occurrence. If there is none, `before` gives all of the text and `after` gives nothing.
    case before(Range<Int>)
    case after(Range<Int>)
    case first(Int)
    case last(Int)
    case skip(Int)
    case dropLast(Int)
    case replace(Range<Int>, Range<Int>)
    case sort(ItemOrder)
    case reencode(EscapeSet)
    /// Names, each followed by a line feed.
    case without(Range<Int>)
    case only(Range<Int>)
    case withValues, addEquals, jsonItems
    case join(equals: Range<Int>, separator: Range<Int>, isDecoded: Bool)
    case values(separator: Range<Int>, isDecoded: Bool)
    case names(separator: Range<Int>)
    case sortLines
    /// The text before each line's first colon.
    case lineNames(separator: Range<Int>)

    /// The key of an HMAC.
    enum Key: Sendable, Equatable {
        case setting(Recipe.SettingName)
        /// An earlier step's value.
        case slot(Int)
        /// A key of the signer's list, prepared once.
        case prepared(Int)
    }

    /// A percent-encoding, with escapes in upper or lower case.
    struct EscapeSet: Sendable, Equatable {
        let set: PercentEncodingSet
        let isLowerCase: Bool

        static let names = ["rfc3986", "path", "form", "javascript"]

        init?(_ name: String) {
            let suffix = "-lower"
            isLowerCase = name.utf8.count > suffix.utf8.count && name.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
            switch String(decoding: name.utf8.dropLast(isLowerCase ? suffix.utf8.count : 0), as: UTF8.self) {
            case "rfc3986": set = .rfc3986
            case "path": set = .rfc3986Path
            case "form": set = .form
            case "javascript": set = .javaScriptComponent
            default: return nil
            }
        }

        init(_ set: PercentEncodingSet) {
            self.set = set
            isLowerCase = false
        }
    }

    var isDigest: Bool {
        switch self {
        case .hash, .hmac: true
        default: false
        }
    }

    /// The filters without arguments.
    static var plain: [(name: String, filter: Filter)] {
        HashFunction.allCases.map { ($0.rawValue, .hash($0)) } + TextEncoding.allCases.map { ($0.rawValue, .encode($0)) } + [
            ("from-hex", .decode(.hex)), ("from-base64", .decode(.base64)), ("encode", .percentEncode(EscapeSet(.rfc3986))),
            ("decode", .percentDecode(plusIsSpace: false)), ("lower", .lower), ("upper", .upper), ("trim", .trim),
            ("collapse", .collapse), ("json", .json), ("length", .length), ("sort-lines", .sortLines), ("sort", .sort(.written)),
            ("with-values", .withValues),
            ("add-equals", .addEquals), ("json-items", .jsonItems),
        ]
    }

    static var names: [String] {
        plain.map { $0.name } + [
            "hmac:HASH:KEY", "encode:SET", "decode:form", "prefix:TEXT", "suffix:TEXT", "default:TEXT", "without-prefix:TEXT",
            "without-suffix:TEXT", "before:TEXT", "after:TEXT", "line-names:SEPARATOR", "first:N",
            "last:N", "skip:N", "drop-last:N", "replace:OLD:NEW", "sort:decoded", "sort:names", "reencode:SET", "without:NAME",
            "only:NAME", "names:SEPARATOR",
            "join:EQUALS:SEPARATOR", "join-decoded:EQUALS:SEPARATOR", "values:SEPARATOR", "values-decoded:SEPARATOR",
        ]
    }
}

/// A way to write bytes as text.
enum TextEncoding: String, CaseIterable, Sendable {
    case hex
    case upperCaseHex = "HEX"
    /// RFC 4648 §4, with or without padding.
    case base64
    case unpaddedBase64 = "base64-unpadded"
    /// RFC 4648 §5, without or with padding.
    case base64URL = "base64url"
    case paddedBase64URL = "base64url-padded"
    /// RFC 4648 §6, padded.
    case base32
}

/// The order of items.
enum ItemOrder: Sendable, Equatable {
    /// By name, then by value, byte by byte as they are written.
    case written
    /// By name, then by value, both decoded.
    case decoded
    /// Only by name.
    case names
}

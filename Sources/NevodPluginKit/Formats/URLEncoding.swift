internal import NevodSupport

/// The bytes that a percent-encoding leaves as they are. All others become `%` and two upper-case hexadecimal digits.
///
/// ```swift
/// PercentEncodingSet.rfc3986.encoded("a b/ä")  // "a%20b%2F%C3%A4"
/// ```
public enum PercentEncodingSet: CaseIterable, Sendable {
    /// Keeps only the unreserved characters (RFC 3986 §2.3): letters, digits, `-._~`. Used by OAuth 1, AWS and most signatures.
    case rfc3986
    /// Like `rfc3986`, but keeps `/`: a path as AWS encodes it.
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

    /// The byte that means a space, in addition to the escape.
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

/// The form of an item without a value in a canonical query.
public enum EmptyQueryValues: Sendable {
    /// `a` stays `a`, and `a=` stays `a=`.
    case asSent
    /// Both become `a=`.
    case withSign
    /// Both become `a`.
    case withoutSign
    /// Neither is written.
    case omitted
}

extension ByteSink where Self: ~Copyable & ~Escapable {
    /// Appends text, writing each byte outside a set as `%` and two upper-case hexadecimal digits (RFC 3986 §2.1). Text that is
    /// already encoded is encoded again, unless the set keeps `%`.
    @_lifetime(self: copy self)
    public mutating func append(percentEncoded text: Span<UInt8>, as set: PercentEncodingSet) {
        append(percentEncoded: text, kept: set.kept, space: set.space)
    }

    @_lifetime(self: copy self)
    private mutating func append(percentEncoded text: Span<UInt8>, kept: PercentEncodingSet.Kept, space: UInt8?) {
        var start = 0
        for index in text.indices {
            let byte = text[index]
            if kept.contains(byte) { continue }
            append(text.extracting(start..<index))
            if byte == 0x20, let space { append(byte: space) } else { append(PercentEncoding.escape(byte).span) }
            start = index + 1
        }
        append(text.extracting(start...))
    }

    /// Appends a string in UTF-8 with all bytes outside a set percent-encoded.
    @_lifetime(self: copy self)
    public mutating func append(percentEncoded text: String, as set: PercentEncodingSet) {
        var text = text
        text.makeContiguousUTF8()
        append(percentEncoded: text.utf8Span.span, as: set)
    }

    /// Appends text with its escapes decoded. A `%` without two hexadecimal digits after it stays.
    @_lifetime(self: copy self)
    public mutating func append(percentDecoded text: Span<UInt8>) {
        var start = 0
        var index = 0
        while index < text.count {
            guard let byte = PercentEncoding.byte(escapedAt: index, in: text) else {
                index += 1
                continue
            }
            append(text.extracting(start..<index))
            append(byte: byte)
            index += 3
            start = index
        }
        append(text.extracting(start...))
    }

    /// Appends a query's items sorted by name, then by value, byte by byte as they are written. Equal items keep their order.
    ///
    /// - Parameters:
    ///   - query: without its `?`, as in ``RequestView/query``.
    ///   - set: decodes each name and value, and encodes them again with this set; nil leaves both as sent. Every set escapes
    ///     `&`, `=` and `%` within a name or a value, because they would change the query's meaning. Only
    ///     ``PercentEncodingSet/form`` reads a `+` as a space.
    ///   - emptyValues: the form of an item without a value.
    @_lifetime(self: copy self)
    public mutating func append(
        canonicalQuery query: Span<UInt8>, as set: PercentEncodingSet? = nil, emptyValues: EmptyQueryValues = .asSent
    ) {
        guard let set else { return append(CanonicalQuery(query, emptyValues).bytes.span) }
        let kept = set.kept.withoutSeparators
        var encoded: [UInt8] = []
        encoded.reserveCapacity(query.count)
        var start = 0
        var isValue = false
        for index in 0...query.count {
            let byte = index < query.count ? query[index] : UInt8(ascii: "&")
            // Only the first `=` of an item separates; another one is a part of the value, and is encoded with it.
            guard byte == UInt8(ascii: "&") || byte == UInt8(ascii: "=") && !isValue else { continue }
            isValue = byte == UInt8(ascii: "=")
            var part: [UInt8] = []
            var read = start
            for plus in start...index where plus == index || query[plus] == set.space {
                part.append(percentDecoded: query.extracting(read..<plus))
                if plus < index { part.append(0x20) }
                read = plus + 1
            }
            encoded.append(percentEncoded: part.span, kept: kept, space: set.space)
            if index < query.count { encoded.append(byte) }
            start = index + 1
        }
        append(CanonicalQuery(encoded.span, emptyValues).bytes.span)
    }

    /// Appends a path without its empty and dot segments (RFC 3986 §5.2.4), percent-encoded: `/a//./b/../c/` is `/a/c/`. An empty
    /// path is `/`.
    ///
    /// - Parameters:
    ///   - path: without a query, as in ``RequestView/path``.
    ///   - set: should keep `/`. A path that is already encoded is encoded again, as AWS's services except S3 expect.
    @_lifetime(self: copy self)
    public mutating func append(normalizedPath path: Span<UInt8>, as set: PercentEncodingSet) {
        var segments: [Range<Int>] = []
        var start = 0
        for index in 0...path.count where index == path.count || path[index] == UInt8(ascii: "/") {
            let segment = path.extracting(start..<index)
            let dots = segment.indices.allSatisfy { segment[$0] == UInt8(ascii: ".") } ? segment.count : 3
            if dots == 2 { _ = segments.popLast() } else if dots > 2 { segments.append(start..<index) }
            start = index + 1
        }
        for segment in segments {
            append(ascii: "/")
            append(percentEncoded: path.extracting(segment), as: set)
        }
        if segments.isEmpty || path[path.count - 1] == UInt8(ascii: "/") { append(ascii: "/") }
    }
}

/// A query with its items sorted.
struct CanonicalQuery {
    private(set) var bytes: [UInt8] = []

    init(_ query: Span<UInt8>, _ emptyValues: EmptyQueryValues) {
        guard !query.isEmpty else { return }
        bytes.reserveCapacity(query.count + 1)
        query.withUnsafeBufferPointer { query in
            let items = query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map(Item.init)
            // Not derived from the written bytes, because the first item may be empty.
            var isFirst = true
            for item in items.sorted(by: Item.precedes) where emptyValues != .omitted || !item.value.isEmpty {
                if !isFirst { bytes.append(UInt8(ascii: "&")) }
                isFirst = false
                bytes.append(contentsOf: item.name)
                if item.hasSign(emptyValues) { bytes.append(UInt8(ascii: "=")) }
                bytes.append(contentsOf: item.value)
            }
        }
    }

    private struct Item {
        let name, value: Slice<UnsafeBufferPointer<UInt8>>
        private let isSigned: Bool

        init(_ item: Slice<UnsafeBufferPointer<UInt8>>) {
            name = item.prefix { $0 != UInt8(ascii: "=") }
            isSigned = name.endIndex < item.endIndex
            value = item[name.endIndex...].dropFirst()
        }

        func hasSign(_ emptyValues: EmptyQueryValues) -> Bool {
            guard value.isEmpty else { return true }
            return switch emptyValues {
            case .asSent: isSigned
            case .withSign: true
            case .withoutSign, .omitted: false
            }
        }

        static func precedes(_ left: Item, _ right: Item) -> Bool {
            guard left.name.elementsEqual(right.name) else { return left.name.lexicographicallyPrecedes(right.name) }
            guard left.value.elementsEqual(right.value) else { return left.value.lexicographicallyPrecedes(right.value) }
            return !left.isSigned && right.isSigned
        }
    }
}

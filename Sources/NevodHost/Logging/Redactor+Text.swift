internal import NevodSupport

extension Redactor {
    /// The ranges of values that are assigned to secret names, in any common notation: `a=b`, `a: b`, `"a":"b"`, `a="b"`,
    /// `<a>b</a>`. Quotes are not part of a range.
    ///
    /// - Parameter depth: the number of percent-encoded texts around this one.
    func assignments(in text: [UInt8], depth: Int = 0) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 0
        while index < text.count {
            guard Self.isNameByte(text[index]) else {
                index += 1
                continue
            }
            let start = index
            while index < text.count, Self.isNameByte(text[index]) { index += 1 }
            let name = PercentEncoding.decoded(text[start..<index])
            if name.contains(UInt8(ascii: "=")) {
                // A percent-encoded URL within a URL. What is encoded more often is hidden unread: each level costs a pass.
                if depth == Self.deepest || !assignments(in: name, depth: depth + 1).isEmpty { found.append(start..<index) }
            } else if names.contains(name), let value = Self.value(in: text, from: index) {
                found.append(value)
                index = value.upperBound
            }
        }
        return found
    }

    private static let deepest = 8

    /// The value after a name that ends at `end`; nil if there is none, or it is redacted already.
    private static func value(in text: [UInt8], from end: Int) -> Range<Int>? {
        func skip(_ bytes: StaticString, _ index: inout Int, atMost count: Int = .max) {
            let allowed = UnsafeBufferPointer(start: bytes.utf8Start, count: bytes.utf8CodeUnitCount)
            let limit = count == .max ? text.count : min(text.count, index + count)
            while index < limit, allowed.contains(text[index]) { index += 1 }
        }
        var index = end
        skip("\\\"'", &index, atMost: 2)
        skip(" \t", &index)
        guard index < text.count, [UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: ">")].contains(text[index]) else {
            return nil
        }
        index += 1
        skip(" \t", &index)
        let quoteStart = index
        skip("\\\"'", &index, atMost: 2)
        let quote = index > quoteStart ? text[index - 1] : nil
        var valueEnd = Self.end(ofValue: text, index, quote)
        if quote == nil, schemes.contains(String(decoding: text[index..<valueEnd], as: UTF8.self).lowercased()) {
            var next = valueEnd
            skip(" ", &next)
            valueEnd = Self.end(ofValue: text, next, nil)
        }
        guard valueEnd > index, !text[index...].starts(with: mark.dropLast()) else { return nil }
        // JSON's literals aren't secret.
        if quote == nil, ["null", "true", "false"].contains(String(decoding: text[index..<valueEnd], as: UTF8.self)) {
            return nil
        }
        return index..<valueEnd
    }

    private static func end(ofValue text: [UInt8], _ start: Int, _ quote: UInt8?) -> Int {
        var end = start
        while end < text.count, !endsValue(text[end], quote) { end += 1 }
        return end
    }

    private static func endsValue(_ byte: UInt8, _ quote: UInt8?) -> Bool {
        if byte == UInt8(ascii: "\\") || byte < 0x20 { return true }
        if let quote { return byte == quote }
        return byte == 0x20 || unquotedEnds.contains(byte)
    }

    private static let unquotedEnds = Array("&;,<>)]}\"'#".utf8)

    /// The names of schemes that may precede the credential in `Authorization: …`.
    private static let schemes: Set<String> = ["basic", "bearer", "digest", "negotiate", "token", "apikey", "dpop"]

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default: byte >= 0x80
        }
    }

    /// The ranges of JSON Web Tokens (RFC 7519), which are credentials wherever they occur. Their header is JSON in base64, so
    /// all start with the same letters.
    static func tokens(in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 0
        while index < text.count {
            let start = index
            while index < text.count, isJWTByte(text[index]) { index += 1 }
            let run = text[start..<index]
            if run.count >= 20, run.starts(with: "eyJ".utf8), run.contains(UInt8(ascii: ".")) { found.append(start..<index) }
            if index == start { index += 1 }
        }
        return found
    }

    private static func isJWTByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// The ranges of `user:password` in URLs (RFC 3986 §3.2.1).
    static func userInfo(in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 0
        while index + 3 < text.count {
            defer { index += 1 }
            guard text[index...].starts(with: "://".utf8) else { continue }
            let start = index + 3
            let authority = text[start...].prefix { $0 > 0x20 && !Array("/?#\"'<>".utf8).contains($0) }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")), at > start { found.append(start..<at) }
        }
        return found
    }
}

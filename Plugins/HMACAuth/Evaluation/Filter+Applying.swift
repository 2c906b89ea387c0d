internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

extension Filter {
    /// Writes the filter's result for a text. The signer computes digests, because it has the keys.
    ///
    /// - Parameters:
    ///   - bytes: the recipe's bytes.
    ///   - most: the largest size of the result.
    ///   - isStrict: whether to refuse control bytes in decoded text.
    @_lifetime(text: copy text)
    func append(_ input: Span<UInt8>, _ bytes: [UInt8], most: Int, isStrict: Bool, to text: inout ByteWriter) throws(SchemeError)
    {
        switch self {
        case .hash, .hmac: break
        case .encode(let encoding): Self.append(input, encoding, &text)
        case .decode(let encoding): try Self.append(decoded: input, encoding, isStrict, &text)
        case .percentEncode(let set): Self.append(input, set, &text)
        case .percentDecode(let plusIsSpace):
            let decoded = PercentEncoding.decoded(input, plusIsSpace: plusIsSpace)
            if isStrict { try Self.refuseControls(decoded.span) }
            text.append(decoded.span)
        case .lower: text.append(lowercased: input)
        case .upper:
            for index in input.indices { text.append(byte: input[index].uppercased) }
        case .trim: text.append(Self.trimmed(input))
        case .collapse: Self.append(collapsed: input, &text)
        case .json: Self.append(json: input, &text)
        case .length: text.append(decimal: Int64(input.count))
        case .prefix(let range):
            if !input.isEmpty { text.append(bytes.span.extracting(range)) }
            text.append(input)
        case .suffix(let range):
            text.append(input)
            if !input.isEmpty { text.append(bytes.span.extracting(range)) }
        case .fallback(let range): text.append(input.isEmpty ? bytes.span.extracting(range) : input)
        case .withoutPrefix(let range):
            text.append(Self.find(bytes[range], in: input, from: 0, to: 1) == 0 ? input.extracting(range.count...) : input)
        case .withoutSuffix(let range):
            let start = input.count - range.count
            text.append(
                start >= 0 && Self.find(bytes[range], in: input, from: start, to: start + 1) != nil
                    ? input.extracting(first: start) : input)
        case .before(let range):
            text.append(input.extracting(first: Self.find(bytes[range], in: input, from: 0, to: input.count) ?? input.count))
        case .after(let range):
            let start = Self.find(bytes[range], in: input, from: 0, to: input.count).map { $0 + range.count } ?? input.count
            text.append(input.extracting(start...))
        case .first(let count): text.append(input.extracting(first: min(count, input.count)))
        case .last(let count): text.append(input.extracting(last: min(count, input.count)))
        case .skip(let count): text.append(input.extracting(min(count, input.count)...))
        case .dropLast(let count): text.append(input.extracting(droppingLast: min(count, input.count)))
        case .replace(let old, let new): try Self.append(input, bytes, old, new, most, &text)
        case .sort(let order): Self.append(sorted: input, order, &text)
        case .reencode(let set): try Self.append(reencoded: input, set, &text)
        case .without(let names): Self.append(input, named: bytes[names], isKept: false, &text)
        case .only(let names): Self.append(input, named: bytes[names], isKept: true, &text)
        case .withValues: Self.append(input, &text) { !$0.hasEquals || $0.valueStart == $0.end ? nil : "" }
        case .addEquals: Self.append(input, &text) { $0.hasEquals ? "" : "=" }
        case .jsonItems: try Self.append(jsonItems: input, &text)
        case .join(let equals, let separator, let isDecoded):
            try Self.append(input, bytes[equals], bytes[separator], isDecoded, isStrict, most, &text)
        case .values(let separator, let isDecoded):
            try Self.append(partsOf: input, bytes[separator], areNames: false, isDecoded, isStrict, most, &text)
        case .names(let separator): try Self.append(partsOf: input, bytes[separator], areNames: true, false, false, most, &text)
        case .sortLines: Self.append(sortedLines: input, &text)
        case .lineNames(let separator): try Self.append(lineNames: input, bytes[separator], most, &text)
        }
        try Self.limit(text.count, most)
    }

    // MARK: Encodings

    @_lifetime(text: copy text)
    private static func append(_ input: Span<UInt8>, _ encoding: TextEncoding, _ text: inout ByteWriter) {
        switch encoding {
        case .hex: text.append(hex: input)
        case .upperCaseHex: text.append(upperCaseHex: input)
        case .base64: text.append(base64: input)
        case .unpaddedBase64:
            text.append(base64: input)
            text.removeLast((3 - input.count % 3) % 3)
        case .base64URL: text.append(base64URL: input)
        case .paddedBase64URL:
            text.append(base64URL: input)
            for _ in 0..<(3 - input.count % 3) % 3 { text.append(ascii: "=") }
        case .base32: append(base32: input, &text)
        }
    }

    /// Appends base32 (RFC 4648 §6).
    @_lifetime(text: copy text)
    private static func append(base32 input: Span<UInt8>, _ text: inout ByteWriter) {
        let digits: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
        var (bits, count, written) = (UInt32(0), 0, 0)
        for index in input.indices {
            bits = bits << 8 | UInt32(truncatingIfNeeded: input[index])
            count += 8
            while count >= 5 {
                count -= 5
                text.append(byte: digits.utf8Start[Int(bits >> count & 31)])
                written += 1
            }
            bits &= 1 << count - 1
        }
        if count > 0 {
            text.append(byte: digits.utf8Start[Int(bits << (5 - count) & 31)])
            written += 1
        }
        for _ in 0..<(8 - written % 8) % 8 { text.append(ascii: "=") }
    }

    @_lifetime(text: copy text)
    private static func append(
        decoded input: Span<UInt8>, _ encoding: TextEncoding, _ isStrict: Bool, _ text: inout ByteWriter
    ) throws(SchemeError) {
        let secret = Secret(input)
        let decoded = encoding == .hex ? Hexadecimal.secret(secret) : Base64.decoded(secret, .exact)
        guard let decoded else { throw .unsupported("a value is not the \(encoding.rawValue) that the recipe decodes") }
        let start = text.count
        decoded.withUnsafeBytes { text.append(Span(_unsafeBytes: $0)) }
        if isStrict { try refuseControls(text.bytes.extracting(start...)) }
    }

    @_lifetime(text: copy text)
    private static func append(_ input: Span<UInt8>, _ set: EscapeSet, _ text: inout ByteWriter) {
        guard set.isLowerCase else { return text.append(percentEncoded: input, as: set.set) }
        var escaped: [UInt8] = []
        escaped.append(percentEncoded: input, as: set.set)
        // Only an escape has upper-case letters after a percent sign, because the sets always escape a percent sign.
        var digits = 0
        for byte in escaped {
            text.append(byte: digits > 0 ? byte.lowercased : byte)
            digits = byte == UInt8(ascii: "%") ? 2 : max(digits - 1, 0)
        }
    }

    @_lifetime(text: copy text)
    private static func append(json input: Span<UInt8>, _ text: inout ByteWriter) {
        for index in input.indices {
            let byte = input[index]
            switch byte {
            case UInt8(ascii: "\""): text.append(ascii: "\\\"")
            case UInt8(ascii: "\\"): text.append(ascii: "\\\\")
            case 0x08: text.append(ascii: "\\b")
            case 0x09: text.append(ascii: "\\t")
            case 0x0A: text.append(ascii: "\\n")
            case 0x0C: text.append(ascii: "\\f")
            case 0x0D: text.append(ascii: "\\r")
            case 0..<0x20:
                text.append(ascii: "\\u00")
                text.append(byte: Hexadecimal.digit(byte >> 4))
                text.append(byte: Hexadecimal.digit(byte & 15))
            default: text.append(byte: byte)
            }
        }
    }

    // MARK: Texts

    @_lifetime(copy input)
    private static func trimmed(_ input: Span<UInt8>) -> Span<UInt8> {
        var (start, end) = (0, input.count)
        while start < end, input[start].isBlankOrLineBreak { start += 1 }
        while end > start, input[end - 1].isBlankOrLineBreak { end -= 1 }
        return input.extracting(start..<end)
    }

    @_lifetime(text: copy text)
    private static func append(collapsed input: Span<UInt8>, _ text: inout ByteWriter) {
        var isFirst = true
        var start = 0
        for index in 0...input.count where index == input.count || input[index].isBlankOrLineBreak {
            if start < index {
                if !isFirst { text.append(ascii: " ") }
                isFirst = false
                text.append(input.extracting(start..<index))
            }
            start = index + 1
        }
    }

    /// The first place in a range where a text begins; nil if there is none.
    private static func find(_ wanted: ArraySlice<UInt8>, in input: Span<UInt8>, from start: Int, to end: Int) -> Int? {
        var index = start
        let last = min(end, input.count - wanted.count + 1)
        search: while index < last {
            for offset in 0..<wanted.count where input[index + offset] != wanted[wanted.startIndex + offset] {
                index += 1
                continue search
            }
            return index
        }
        return nil
    }

    @_lifetime(text: copy text)
    private static func append(
        _ input: Span<UInt8>, _ bytes: [UInt8], _ old: Range<Int>, _ new: Range<Int>, _ most: Int, _ text: inout ByteWriter
    ) throws(SchemeError) {
        var start = 0
        while let found = find(bytes[old], in: input, from: start, to: input.count) {
            text.append(input.extracting(start..<found))
            text.append(bytes.span.extracting(new))
            try limit(text.count, most)
            start = found + old.count
        }
        text.append(input.extracting(start...))
    }

    // MARK: Lines

    /// Appends lines sorted by name, which is the text before the first colon, then by the rest. Sorting by whole lines would put
    /// `a-b:` before `a:`.
    @_lifetime(text: copy text)
    private static func append(sortedLines input: Span<UInt8>, _ text: inout ByteWriter) {
        input.withUnsafeBufferPointer { input in
            let lines = input.split(separator: UInt8(ascii: "\n")).sorted { left, right in
                let (leftName, rightName) = (left.prefix { $0 != UInt8(ascii: ":") }, right.prefix { $0 != UInt8(ascii: ":") })
                return leftName.elementsEqual(rightName)
                    ? left.lexicographicallyPrecedes(right) : leftName.lexicographicallyPrecedes(rightName)
            }
            for line in lines {
                text.append(Span(_unsafeElements: UnsafeBufferPointer(rebasing: line)))
                text.append(ascii: "\n")
            }
        }
    }

    @_lifetime(text: copy text)
    private static func append(
        lineNames input: Span<UInt8>, _ separator: ArraySlice<UInt8>, _ most: Int, _ text: inout ByteWriter
    ) throws(SchemeError) {
        let separator = Array(separator)
        var isFirst = true
        var start = 0
        while start < input.count {
            var end = start
            while end < input.count, input[end] != UInt8(ascii: "\n") { end += 1 }
            var nameEnd = start
            while nameEnd < end, input[nameEnd] != UInt8(ascii: ":") { nameEnd += 1 }
            if end > start {
                if !isFirst { text.append(separator.span) }
                isFirst = false
                text.append(input.extracting(start..<nameEnd))
                try limit(text.count, most)
            }
            start = end + 1
        }
    }
}

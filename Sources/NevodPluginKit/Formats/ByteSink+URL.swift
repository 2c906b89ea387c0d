internal import NevodSupport

extension ByteSink where Self: ~Copyable & ~Escapable {
    /// Appends text with all bytes outside a set as `%` and two upper-case hexadecimal digits (RFC 3986 §2.1). Text that is encoded
    /// already is encoded again, unless the set keeps `%`.
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
    ///   - set: decodes each name and value, and encodes it again so; nil leaves both as sent. `&`, `=` and `%` within a name or a value
    ///     are escaped with each set, since they would change what the query says. A `+` is a space to ``PercentEncodingSet/form`` alone.
    ///   - emptyValues: what is written of an item without a value.
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

    /// Appends a path without its empty and dot segments (RFC 3986 §5.2.4), percent-encoded: `/a//./b/../c/` is `/a/c/`. An empty path
    /// is `/`.
    ///
    /// - Parameters:
    ///   - path: without a query, as in ``RequestView/path``.
    ///   - set: should keep `/`; encodes a path that is encoded already once more, as AWS's services except S3 expect.
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

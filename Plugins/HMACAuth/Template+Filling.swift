internal import NevodPluginKit
internal import NevodSupport

extension Template<MessagePlaceholder> {
    /// Feeds the message to the HMAC in pieces, because with `{body}` it may not fit on the stack.
    func feed(
        to input: inout HMACKey.Input, _ request: borrowing RequestView, _ text: Span<UInt8>, _ texts: Signer.Texts,
        _ key: [UInt8]
    ) {
        for part in parts {
            switch part {
            case .literal(let range): input.append(bytes.span.extracting(range))
            case .placeholder(.method): input.append(request.method)
            case .placeholder(.path): input.append(request.path)
            case .placeholder(.decodedPath): input.append(percentDecoding: request.path)
            case .placeholder(.target): input.append(request.target)
            case .placeholder(.query): input.append(request.query)
            case .placeholder(.sortedQuery): input.append(sortingQuery: request.query)
            case .placeholder(.host): input.append(request.authority)
            case .placeholder(.scheme): input.append(request.scheme)
            case .placeholder(.timestamp): input.append(text.extracting(texts.timestamp))
            case .placeholder(.nonce): input.append(text.extracting(texts.nonce))
            case .placeholder(.key): input.append(key.span)
            case .placeholder(.body): input.append(request.body)
            case .placeholder(.bodyHash): input.append(text.extracting(texts.bodyHash))
            case .placeholder(.header(let name)): input.append(header: bytes.span.extracting(name), of: request)
            }
        }
    }
}

extension Template<ValuePlaceholder> {
    /// Appends the value after the texts that it consists of.
    @_lifetime(text: copy text)
    func append(to text: inout ByteWriter, _ texts: Signer.Texts, _ key: [UInt8]) {
        for part in parts {
            switch part {
            case .literal(let range): text.append(bytes.span.extracting(range))
            case .placeholder(.signature): text.append(copying: texts.signature)
            case .placeholder(.key): text.append(key.span)
            case .placeholder(.timestamp): text.append(copying: texts.timestamp)
            case .placeholder(.nonce): text.append(copying: texts.nonce)
            case .placeholder(.bodyHash): text.append(copying: texts.bodyHash)
            }
        }
    }
}

extension HMACKey.Input {
    /// Appends text with its escapes decoded. A `%` without two hexadecimal digits after it stays.
    fileprivate mutating func append(percentDecoding text: Span<UInt8>) {
        var start = 0
        var index = 0
        while index < text.count {
            guard let byte = PercentEncoding.byte(escapedAt: index, in: text) else {
                index += 1
                continue
            }
            append(text.extracting(start..<index))
            append(InlineArray<1, UInt8>(repeating: byte).span)
            index += 3
            start = index
        }
        append(text.extracting(start...))
    }

    /// Appends the items sorted by name, then by value, both as encoded. Equal items keep their order.
    fileprivate mutating func append(sortingQuery query: Span<UInt8>) {
        let items = query.withUnsafeBufferPointer { query in
            query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
                .map { item in (item, name: item.prefix { $0 != UInt8(ascii: "=") }) }
                .sorted { left, right in
                    left.name.elementsEqual(right.name)
                        ? left.0.lexicographicallyPrecedes(right.0) : left.name.lexicographicallyPrecedes(right.name)
                }
                .map(\.0.indices)
        }
        for (position, item) in items.enumerated() {
            if position > 0 { append(InlineArray<1, UInt8>(repeating: UInt8(ascii: "&")).span) }
            append(query.extracting(item))
        }
    }

    private static var comma: InlineArray<2, UInt8> { [UInt8(ascii: ","), UInt8(ascii: " ")] }

    /// Appends the values of all lines of that name, joined as RFC 9110 §5.3 allows; nothing if there is none.
    fileprivate mutating func append(header name: Span<UInt8>, of request: borrowing RequestView) {
        var isFirst = true
        request.forEachHeader { line, value in
            guard line.count == name.count, line.indices.allSatisfy({ line[$0].asciiLowercased == name[$0].asciiLowercased })
            else {
                return
            }
            if !isFirst { append(Self.comma.span) }
            isFirst = false
            append(value)
        }
    }
}

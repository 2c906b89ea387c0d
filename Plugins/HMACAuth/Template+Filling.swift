internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

extension Template<MessagePlaceholder> {
    /// Feeds the message to the HMAC in pieces, because with `{body}` it may not fit on the stack.
    func feed(
        to input: inout HMACInput, _ request: borrowing RequestView, _ text: Span<UInt8>, _ texts: Signer.Texts,
        _ key: [UInt8]
    ) {
        for part in parts {
            switch part {
            case .literal(let range): input.append(bytes.span.extracting(range))
            case .placeholder(.method): input.append(request.method)
            case .placeholder(.path): input.append(request.path)
            case .placeholder(.decodedPath): input.append(percentDecoded: request.path)
            case .placeholder(.target): input.append(request.target)
            case .placeholder(.query): input.append(request.query)
            case .placeholder(.sortedQuery): input.append(canonicalQuery: request.query)
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

extension HMACInput {
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

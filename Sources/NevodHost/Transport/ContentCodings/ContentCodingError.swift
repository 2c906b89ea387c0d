/// Why a body can't be decoded.
enum ContentCodingError: Error, Hashable {
    /// The response names a coding that is not known.
    case unknown(String)
    /// The response names more codings, one around the other, than ``ContentDecoder/mostCodings``.
    case tooMany
    /// The bytes violate the coding's format.
    case invalid(ContentCoding)
    /// The bytes end before the coding does.
    case truncated(ContentCoding)
    /// Bytes follow the end of the coding.
    case trailing(ContentCoding)
    /// The decoded body is larger than the limit of ``DecompressionLimit``, in bytes.
    case tooLarge(limit: Int)
    /// A decoder can't be created.
    case noMemory
}

extension TransportError {
    init(_ error: ContentCodingError) {
        switch error {
        case .unknown(let name):
            self.init(
                .malformedResponse, "its content coding \"\(name)\" is unknown; the codings are \(ContentCoding.accepted)",
                curlCode: Self.badContentEncoding)
        case .tooMany:
            self.init(
                .malformedResponse, "it has more than \(ContentDecoder.mostCodings) content codings",
                curlCode: Self.badContentEncoding)
        case .invalid(let coding):
            self.init(.malformedResponse, "its \(coding) coding is invalid", curlCode: Self.badContentEncoding)
        case .truncated(let coding):
            self.init(.malformedResponse, "its body ends in the middle of its \(coding) coding", curlCode: Self.partialFile)
        case .trailing(let coding):
            self.init(
                .malformedResponse, "bytes follow the end of its \(coding) coding", curlCode: Self.badContentEncoding)
        case .tooLarge(let limit):
            self.init(
                .bodyTooLarge(limit: limit),
                "it grows out of proportion when it is decompressed; request it without compression, or raise the session's decompressionLimit",
                curlCode: Self.fileSizeExceeded)
        case .noMemory: self.init(.other, "no memory to decompress the response")
        }
    }

    /// CURLE_BAD_CONTENT_ENCODING, CURLE_PARTIAL_FILE and CURLE_FILESIZE_EXCEEDED.
    private static let badContentEncoding: Int32 = 61
    private static let partialFile: Int32 = 18
    private static let fileSizeExceeded: Int32 = 63
}

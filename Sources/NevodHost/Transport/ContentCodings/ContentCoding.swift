/// A content coding that can be undone (RFC 9110 §8.4.1, RFC 7932, RFC 8878).
enum ContentCoding: Sendable {
    case gzip, deflate, brotli, zstd

    /// The value of Accept-Encoding that accepts all codings (RFC 9110 §12.5.3).
    static let accepted = "deflate, gzip, br, zstd"

    /// Returns nil if the name is unknown. `x-gzip` is an old name of `gzip`.
    init?(_ name: some StringProtocol) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstd
        default: return nil
        }
    }

    func makeDecoder() throws(ContentCodingError) -> any CodingDecoder {
        switch self {
        case .gzip: try GzipDecoder()
        case .deflate: try DeflateDecoder()
        case .brotli: try BrotliDecoder()
        case .zstd: try ZstdDecoder()
        }
    }
}

/// Why a body can't be decoded.
enum ContentCodingError: Error, Hashable {
    /// The response names an unknown coding.
    case unknown(String)
    /// The response has more nested codings than ``ContentDecoder/mostCodings``.
    case tooMany
    /// The bytes violate the coding's format.
    case invalid(ContentCoding)
    /// The bytes end before the coding does.
    case truncated(ContentCoding)
    /// Bytes follow the end of the coding.
    case trailing(ContentCoding)
    /// The decoded body exceeds the limit from ``DecompressionLimit``, in bytes.
    case tooLarge(limit: Int)
    /// A decoder can't be created.
    case noMemory
}

extension TransportError {
    init(_ error: ContentCodingError) {
        switch error {
        case .unknown(let name):
            self.init(
                .malformedResponse,
                "its content coding \"\(name)\" is unknown; the supported codings are \(ContentCoding.accepted)",
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
                "it grows out of proportion when decompressed; request it uncompressed, or raise the session's decompressionLimit",
                curlCode: Self.fileSizeExceeded)
        case .noMemory: self.init(.other, "no memory to decompress the response")
        }
    }

    /// CURLE_BAD_CONTENT_ENCODING, CURLE_PARTIAL_FILE and CURLE_FILESIZE_EXCEEDED.
    private static let badContentEncoding: Int32 = 61
    private static let partialFile: Int32 = 18
    private static let fileSizeExceeded: Int32 = 63
}

/// A content coding that can be undone (RFC 9110 §8.4.1, RFC 7932, RFC 8878).
enum ContentCoding: Sendable {
    case gzip, deflate, brotli, zstd

    /// The value of Accept-Encoding for all of them (RFC 9110 §12.5.3).
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

internal import CCurl

/// Global state of libcurl.
enum CurlLibrary {
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// The content codings that this libcurl can decompress, as a value for Accept-Encoding (RFC 9110 §12.5.3).
    static let contentCodings: String = {
        let features = nevod_version()?.pointee.features ?? 0
        let codings = [("deflate, gzip", CURL_VERSION_LIBZ), ("br", CURL_VERSION_BROTLI), ("zstd", CURL_VERSION_ZSTD)]
        return codings.filter { features & Int32($0.1) != 0 }.map(\.0).joined(separator: ", ")
    }()
}

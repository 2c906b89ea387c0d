internal import CCurl

/// A URL as libcurl parses it. Judges the host's own parser.
final class CurlURL {
    private let handle: OpaquePointer

    /// Returns nil if libcurl rejects the URL.
    init?(_ url: String) {
        guard let handle = curl_url() else { return nil }
        self.handle = handle
        guard set(Array(url.utf8)) else { return nil }
    }

    deinit {
        curl_url_cleanup(handle)
    }

    /// Follows a Location like the curl program. Returns whether libcurl can.
    func follow(_ location: [UInt8]) -> Bool { set(location) }

    private func set(_ text: [UInt8]) -> Bool {
        let text = text.map { CChar(bitPattern: $0) } + [0]
        return curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_URLENCODE | CURLU_ALLOW_SPACE)) == CURLUE_OK
    }

    var scheme: String { part(CURLUPART_SCHEME) }
    /// In lower case, without brackets. An international name stays as written, because libcurl converts it according to the
    /// locale.
    var host: String {
        let host = part(CURLUPART_HOST).lowercased()
        return host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    }
    var port: Int? { Int(part(CURLUPART_PORT, CURLU_DEFAULT_PORT)) }
    var path: String { part(CURLUPART_PATH) }
    var query: String { part(CURLUPART_QUERY) }

    private func part(_ part: CURLUPart, _ flags: Int32 = 0) -> String {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, UInt32(flags)) == CURLUE_OK, let text else { return "" }
        defer { curl_free(text) }
        return String(cString: text)
    }
}

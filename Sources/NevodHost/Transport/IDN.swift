internal import CCurl

/// International host names, by the library that libcurl itself uses (IDNA 2008 through libidn2).
enum IDN {
    /// The ASCII form, `xn--…`; nil for what is no name.
    static func ascii(_ host: String) -> String? {
        guard let url = curl_url() else { return nil }
        defer { curl_url_cleanup(url) }
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_set(url, CURLUPART_URL, "http://\(host)/", 0) == CURLUE_OK,
            curl_url_get(url, CURLUPART_HOST, &text, UInt32(CURLU_PUNYCODE)) == CURLUE_OK, let text
        else { return nil }
        defer { curl_free(text) }
        return String(cString: text).lowercased()
    }
}

internal import CIDN2

/// International host names (IDNA 2008, RFC 5891), by libidn2, which libcurl uses too; unlike libcurl's, this call takes UTF-8
/// whatever the process's locale is.
enum IDN {
    /// The ASCII form, `xn--…`; nil for what is no name.
    static func ascii(_ host: String) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard idn2_to_ascii_8z(host, &text, Int32(IDN2_NONTRANSITIONAL.rawValue | IDN2_NFC_INPUT.rawValue)) == IDN2_OK.rawValue,
            let text
        else { return nil }
        defer { idn2_free(text) }
        return String(cString: text).lowercased()
    }
}

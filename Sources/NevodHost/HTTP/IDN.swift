internal import CIDN2

/// Internationalized host names (IDNA 2008, RFC 5891), converted by libidn2. libcurl uses it too, but depends on the process's
/// locale; this call always takes UTF-8.
enum IDN {
    /// Returns the ASCII form, `xn--…`; nil if the text is not a valid name.
    static func ascii(_ host: String) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        // A NUL would end the text early in the C library.
        guard !host.utf8.contains(0),
            idn2_to_ascii_8z(host, &text, Int32(IDN2_NONTRANSITIONAL.rawValue | IDN2_NFC_INPUT.rawValue)) == IDN2_OK.rawValue,
            let text
        else { return nil }
        defer { idn2_free(text) }
        return String(cString: text).lowercased()
    }
}

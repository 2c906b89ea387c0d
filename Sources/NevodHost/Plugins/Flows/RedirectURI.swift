/// A redirect URI on loopback that a flow wants (RFC 8252 §7.3).
struct RedirectURI: Sendable {
    /// The names of loopback, as in a URL.
    enum Host: String, CaseIterable, Sendable {
        case ipv4 = "127.0.0.1"
        case ipv6 = "[::1]"
        /// Both addresses, because a browser may choose either.
        case localhost
    }

    /// Begins with a slash.
    let path: String
    var host = Host.ipv4
    /// 0 for any free port.
    var port: UInt16 = 0
    /// Whether the browser posts a form (OAuth 2.0 Form Post Response Mode), instead of a GET.
    var isFormPost = false
}

import NevodHost

/// The credential that a request carried to its server, for messages.
enum CarriedCredential: Equatable {
    /// A plugin's scheme wrote it.
    case scheme
    /// A token of the command line's own wrote it, such as that of `-u`.
    case token
    /// A header line that the user typed.
    case line(name: String)

    /// Returns nil if the request carries none for the server; one for a proxy doesn't count.
    init?(_ request: HTTPRequest) {
        var typed: String?
        for line in request.headers {
            if line.provenance.writesCredentials {
                self = line.provenance.description.hasPrefix("scheme ") ? .scheme : .token
                return
            }
            let isSecret = line.provenance == .caller && RedactedNames.default.contains(line.name.utf8)
            if isSecret, typed == nil, line.name.lowercased() != "proxy-authorization" { typed = line.name }
        }
        var withoutProxy = request
        withoutProxy.removeHeader("Proxy-Authorization")
        if let typed {
            self = .line(name: typed)
        } else if request.proxyAuthorization == nil, withoutProxy.carriesCredentials {
            // In the query.
            self = .scheme
        } else {
            return nil
        }
    }
}

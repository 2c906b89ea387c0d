import NevodHost
import NevodSupport

/// The kind of credential that a request carried to its server. With `--fail`, a 401 or 403 exits with 119 for a request that
/// carried one, and with 22 for a request that didn't.
enum CarriedCredential: Equatable {
    /// A plugin's scheme wrote the credential.
    case scheme
    /// This program wrote the credential, for example for `-u`.
    case token
    /// The user typed the credential, as a header line.
    case line(name: String)

    /// Returns nil if the request carries no credential for the server. A credential for a proxy doesn't count.
    init?(_ request: HTTPRequest) {
        var typed: String?
        for line in request.headers {
            if line.provenance.writesCredentials {
                self = line.provenance.description.hasPrefix("scheme ") ? .scheme : .token
                return
            }
            let isSecret = line.provenance == .caller && CredentialNames.standard.contains(line.name.utf8)
            if isSecret, typed == nil, line.name.lowercased() != "proxy-authorization" { typed = line.name }
        }
        var withoutProxy = request
        withoutProxy.removeHeader("Proxy-Authorization")
        if let typed {
            self = .line(name: typed)
        } else if request.proxyAuthorization == nil, withoutProxy.carriesCredentials {
            // The credential is in the query.
            self = .scheme
        } else {
            return nil
        }
    }
}

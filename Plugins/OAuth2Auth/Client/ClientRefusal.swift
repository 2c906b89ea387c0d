internal import NevodPluginKit
internal import NevodSupport

extension OAuth2Auth {
    /// The advice if the server doesn't accept the client (`invalid_client`, RFC 6749 §5.2), with what else it would take.
    func clientAdvice(at endpoints: Endpoints) -> String {
        proofAdvice(at: endpoints) + Self.offer(of: endpoints)
    }

    private func proofAdvice(at endpoints: Endpoints) -> String {
        switch clientMethod(at: endpoints) {
        case .basic:
            "check client-id and client-secret, which were sent as HTTP Basic; some servers take them with client-auth=post alone"
        case .post:
            "check client-id and client-secret, which were sent in the form; some servers take them with client-auth=basic alone"
        case .clientSecretJWT:
            "check client-id and client-secret, and whether the server expects \(clientAudience(at: endpoints)) as the audience "
                + "(client-assertion-audience)"
        case .privateKeyJWT where assertsWorkload:
            "check client-id, and whether the server trusts the platform's tokens, their subject and their audience"
        case .privateKeyJWT:
            "check client-id, whether the server has the public part of client-key under the name of client-key-id, and whether "
                + "it expects \(clientAudience(at: endpoints)) as the audience (client-assertion-audience)"
        case .tls: "check client-id, and whether the connection has the client's certificate (--cert and --key)"
        case .auto, .none:
            clientID == nil
                ? "set client-id" : "check client-id, and set client-secret or client-key if the server gave the client one"
        }
    }

    /// The words of the metadata in a safe form: names of visible ASCII, and not too many.
    private static func offer(of endpoints: Endpoints) -> String {
        let names = endpoints.clientMethods.filter { name in
            !name.isEmpty && name.utf8.count <= 40 && name.utf8.allSatisfy { $0 >= 0x21 && $0 < 0x7F }
        }
        return names.isEmpty ? "" : "; the server's metadata name \(names.prefix(8).joined(separator: ", "))"
    }
}

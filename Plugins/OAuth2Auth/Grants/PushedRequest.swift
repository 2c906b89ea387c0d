internal import NevodPluginKit
internal import NevodSupport

/// Whether the request for a person's consent goes to the server itself, and the browser gets a reference to it (RFC 9126).
enum PushedRequests: String, CaseIterable, SettingValue {
    /// If the settings or the metadata name an endpoint for it.
    case auto
    case always
    case never
}

/// The choice between a request in the browser's address and a pushed one.
struct PushedRequest {
    private static let longestReference = 2048

    let server: TokenEndpoint

    /// The fields of the browser's address: the request's own, or a reference to them (RFC 9126 §4).
    func fields(for request: AuthorizationRequest) async throws(SchemeError) -> FormFields {
        guard let endpoint = try server.endpoints.endpoint(for: server.scheme.pushedRequests) else { return request.fields }
        var fields = request.fields
        // Written once, in the way that the client proves who it is.
        fields.fields.removeAll { $0.name.utf8.elementsEqual("client_id".utf8) }
        let answer = try await server.ask(fields, at: endpoint, namingClient: true)
        let json = try answer.success("the pushed authorization request")
        guard let reference = json["request_uri"]?.string, !reference.isEmpty, reference.utf8.count <= Self.longestReference,
            reference.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw .unavailable("the server's response to the pushed authorization request has no valid request_uri") }
        // Nothing else: what the browser's address said beside the reference, anybody could have changed.
        return ["client_id": .text(server.scheme.clientID ?? ""), "request_uri": .text(reference)]
    }
}

extension Endpoints {
    /// Where the request is pushed to; nil if it goes into the browser's address.
    func endpoint(for choice: PushedRequests) throws(SchemeError) -> String? {
        switch choice {
        case .never:
            guard !requiresPushedRequests else {
                throw .badSetting("par", "must not be never: the server takes pushed requests alone")
            }
            return nil
        case .auto:
            guard pushedRequests != nil || requiresPushedRequests else { return nil }
        case .always: break
        }
        if let pushedRequests { return pushedRequests }
        throw .badSetting("par-url", "is needed for pushed requests: the server's metadata name no endpoint for them")
    }
}

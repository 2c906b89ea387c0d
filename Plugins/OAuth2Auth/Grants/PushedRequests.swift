internal import NevodPluginKit
internal import NevodSupport

/// Whether the client sends the request for a person's consent to the server directly, and the browser gets a reference to it (RFC
/// 9126).
enum PushedRequests: String, CaseIterable, SettingValue {
    /// Pushed if the settings or the metadata name an endpoint for it.
    case auto
    case always
    case never
}

/// The choice between a request in the browser's address and a pushed request.
struct PushedRequest {
    private static let longestReference = 2048

    let server: TokenEndpoint

    /// The fields of the browser's address: the request's own, or a reference to them (RFC 9126 §4).
    func fields(for request: AuthorizationRequest) async throws(SchemeError) -> FormFields {
        guard let endpoint = try server.endpoints.endpoint(for: server.scheme.pushedRequests) else { return request.fields }
        var fields = request.fields
        // The client's proof of identity adds it again.
        fields.remove("client_id")
        let answer = try await server.ask(fields, at: endpoint, namingClient: true)
        let json = try answer.success("the pushed authorization request")
        guard let reference = json["request_uri"]?.string, !reference.isEmpty, reference.utf8.count <= Self.longestReference,
            reference.utf8.allSatisfy({ $0.isVisible })
        else { throw .unavailable("the server's response to the pushed authorization request has no valid request_uri") }
        // Adds nothing else, because anybody could change other items of the browser's address.
        return ["client_id": .text(server.scheme.clientID ?? ""), "request_uri": .text(reference)]
    }
}

extension Endpoints {
    /// The endpoint to push the request to; nil if it goes into the browser's address.
    func endpoint(for choice: PushedRequests) throws(SchemeError) -> String? {
        switch choice {
        case .never:
            guard !requiresPushedRequests else {
                throw .badSetting("par", "must not be never: the server accepts only pushed requests")
            }
            return nil
        case .auto:
            guard pushedRequests != nil || requiresPushedRequests else { return nil }
        case .always: break
        }
        if let pushedRequests { return pushedRequests }
        throw .badSetting("par-url", "is needed for pushed requests: the server's metadata names no endpoint for them")
    }
}

internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

/// A metadata document of an authorization server that names the wanted issuer (RFC 8414 §2, OpenID Connect Discovery §3).
struct ServerMetadata: Sendable {
    /// The members that are addresses.
    enum Endpoint: String, CaseIterable, Sendable {
        case authorization = "authorization_endpoint"
        case token = "token_endpoint"
        case device = "device_authorization_endpoint"
        case pushedRequests = "pushed_authorization_request_endpoint"
        case revocation = "revocation_endpoint"
        case keys = "jwks_uri"

        /// The setting that replaces the member.
        var setting: String {
            switch self {
            case .authorization: "authorization-url"
            case .token: "token-url"
            case .device: "device-url"
            case .pushedRequests: "par-url"
            case .revocation: "revocation-url"
            case .keys: "keys-url"
            }
        }
    }

    /// The value of a member that should be an address.
    enum Address: Equatable, Sendable {
        case missing
        case valid(String)
        /// The member's fault, as the end of a sentence.
        case invalid(String)
    }

    /// The reason why a response isn't a valid document.
    enum Fault: Error, Equatable, Sendable {
        /// It isn't such a document. The document may be at another address.
        case unreadable(String)
        /// It names another issuer, in a form that is safe to show (RFC 8414 §3.3).
        case otherIssuer(String)
    }

    private let json: JSONValue
    private let issuer: WebAddress

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - body: JSON, at most 1 MiB; a byte order mark before it is ignored, as the host does.
    ///   - wanted: the issuer that the document must name, compared byte by byte.
    init(_ body: Span<UInt8>, of wanted: String) throws(Fault) {
        let json = try Self.object(body)
        guard let address = WebAddress(wanted) else { throw .unreadable("is for an issuer that is not a URL") }
        guard let named = json["issuer"]?.string else { throw .unreadable("names no issuer") }
        guard named.utf8.elementsEqual(wanted.utf8) else { throw .otherIssuer(ServerWords.quoted(named)) }
        self.json = json
        issuer = address
    }

    /// Reads an object. Refuses repeated members, because readers treat them differently (RFC 8259 §4).
    static func object(_ body: Span<UInt8>) throws(Fault) -> JSONValue {
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(response: body) } catch {
            throw .unreadable("is not valid JSON: \(error.description)")
        }
        guard case .object = json else { throw .unreadable("is not a JSON object") }
        return json
    }

    /// The address of an endpoint. It must use https, or be on this machine if the issuer is (RFC 8414 §2). It must have no user
    /// and no fragment (RFC 6749 §3.1, §3.2).
    ///
    /// - Parameter alias: whether to prefer the endpoint for connections with a client's certificate (`mtls_endpoint_aliases`, RFC
    ///   8705 §5).
    subscript(endpoint: Endpoint, alias alias: Bool = false) -> Address {
        let other = alias ? json["mtls_endpoint_aliases"]?[endpoint.rawValue] : nil
        guard let value = other ?? json[endpoint.rawValue], value != .null else { return .missing }
        guard let text = value.string else { return .invalid("is not a text") }
        guard let address = WebAddress(text) else { return .invalid("is not an http or https URL: \(ServerWords.quoted(text))") }
        if address.hasFragment { return .invalid("has a fragment: \(ServerWords.quoted(text))") }
        guard address.mayBeNamed(by: issuer) else { return .invalid("is not an https URL: \(ServerWords.quoted(text))") }
        return .valid(text)
    }

    /// The words of an array that name algorithms or methods; empty if there is no such array. Leaves out words that no registry
    /// could have, and words after the first 64.
    func words(_ name: String) -> [String] {
        guard case .array(let values)? = json[name] else { return [] }
        return values.prefix(64).compactMap { value in
            guard let word = value.string, (1...64).contains(word.utf8.count), word.utf8.allSatisfy({ $0.isVisible })
            else { return nil }
            return word
        }
    }

    /// Whether a member is `true`.
    func isTrue(_ name: String) -> Bool { json[name]?.bool == true }
}

/// The addresses of an authorization server, and the features that its metadata announces (RFC 8414 §2).
struct Endpoints: Sendable {
    /// The origin of the addresses.
    enum Source: Sendable {
        /// The settings alone.
        case settings
        /// The issuer's metadata, and the settings.
        case metadata
        /// The metadata from an earlier flow, kept with the token.
        case token
    }

    /// The issuer's identifier, as in its metadata; nil without a setting for it.
    var issuer: String?
    var authorization: String?
    var token: String
    var device: String?
    var pushedRequests: String?
    var revocation: String?
    /// Where the keys of ID tokens are (`jwks_uri`).
    var keys: String?
    /// `token_endpoint_auth_methods_supported`; empty if unknown.
    var clientMethods: [String] = []
    /// `token_endpoint_auth_signing_alg_values_supported`; empty if unknown.
    var assertionAlgorithms: [String] = []
    /// `code_challenge_methods_supported`; empty if unknown.
    var challengeMethods: [String] = []
    /// Whether each authorization response names the issuer (RFC 9207 §3).
    var namesIssuer = false
    /// Whether authorization requests must be pushed (RFC 9126 §5).
    var requiresPushedRequests = false
    /// `dpop_signing_alg_values_supported` (RFC 9449 §5.1); empty if unknown.
    var proofAlgorithms: [String] = []
    var source = Source.settings

    /// The endpoints to keep with a token; nil if the settings name everything that a renewal needs.
    var kept: Endpoints? { source == .settings ? nil : self }
}

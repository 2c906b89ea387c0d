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

        /// The setting that takes the place of the member.
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

    /// A member that should be an address.
    enum Address: Equatable, Sendable {
        case missing
        case valid(String)
        /// The member's fault, as the end of a sentence.
        case invalid(String)
    }

    /// The reason why a response is no document that counts.
    enum Fault: Error, Equatable, Sendable {
        /// It is another document, or none at all; another one may be at another address.
        case unreadable(String)
        /// It names another issuer, in a form that is safe to show (RFC 8414 §3.3).
        case otherIssuer(String)
    }

    private let json: JSONValue
    private let issuer: WebAddress

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - body: JSON, at most 1 MiB; a byte order mark before it is left out, as the host does.
    ///   - wanted: the issuer that the document must name, byte by byte.
    init(_ body: Span<UInt8>, of wanted: String) throws(Fault) {
        let json = try Self.object(body)
        guard let address = WebAddress(wanted) else { throw .unreadable("is for an issuer that is not a URL") }
        guard let named = json["issuer"]?.string else { throw .unreadable("names no issuer") }
        guard named.utf8.elementsEqual(wanted.utf8) else { throw .otherIssuer(ServerText.quoted(named)) }
        self.json = json
        issuer = address
    }

    /// Reads an object of which no member is repeated, since readers take those differently (RFC 8259 §4).
    static func object(_ body: Span<UInt8>) throws(Fault) -> JSONValue {
        let hasMark = body.count >= 3 && body[0] == 0xEF && body[1] == 0xBB && body[2] == 0xBF
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: body.extracting(droppingFirst: hasMark ? 3 : 0), repeatedNames: .refused)
        } catch {
            throw .unreadable("is not valid JSON: \(error.description)")
        }
        guard case .object = json else { throw .unreadable("is not a JSON object") }
        return json
    }

    /// The address of an endpoint: by https, or on this machine if the issuer is (RFC 8414 §2), without a user and without a fragment
    /// (RFC 6749 §3.1, §3.2).
    ///
    /// - Parameter alias: whether the one for connections with a client's certificate goes first (`mtls_endpoint_aliases`, RFC 8705 §5).
    subscript(endpoint: Endpoint, alias alias: Bool = false) -> Address {
        let other = alias ? json["mtls_endpoint_aliases"]?[endpoint.rawValue] : nil
        guard let value = other ?? json[endpoint.rawValue], value != .null else { return .missing }
        guard let text = value.string else { return .invalid("is not a text") }
        guard let address = WebAddress(text) else { return .invalid("is not an http or https URL: \(ServerText.quoted(text))") }
        if address.hasFragment { return .invalid("has a fragment: \(ServerText.quoted(text))") }
        guard address.mayBeNamed(by: issuer) else { return .invalid("is not an https URL: \(ServerText.quoted(text))") }
        return .valid(text)
    }

    /// The words of an array that name algorithms or methods; empty if there is none. Words that no registry could have are left out,
    /// and those after the first 64.
    func words(_ name: String) -> [String] {
        guard case .array(let values)? = json[name] else { return [] }
        return values.prefix(64).compactMap { value in
            guard let word = value.string, (1...64).contains(word.utf8.count), word.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { return nil }
            return word
        }
    }

    /// Whether a member is `true`.
    func isTrue(_ name: String) -> Bool { json[name]?.bool == true }
}

internal import NevodPluginKit
internal import NevodSupport

/// A token in exchange for another (RFC 8693): a user's, a platform's, or another issuer's.
struct TokenExchange {
    struct Settings: Sendable {
        @Setting("subject-token", help: "The token to exchange, for grant=token-exchange") var subject: Secret?
        @Setting("subject-token-file", help: "File with the token to exchange") var subjectFile: String?
        @Setting("subject-token-type", help: "Its type: access-token, id-token, jwt, refresh-token, saml1, saml2 or a URI")
        var subjectType: String?
        @Setting("actor-token", help: "Token of the party that acts for the subject") var actor: Secret?
        @Setting("actor-token-file", help: "File with that token") var actorFile: String?
        @Setting("actor-token-type", help: "Its type, as for subject-token-type") var actorType: String?
        @Setting("requested-token-type", help: "Type of the token to issue, as for subject-token-type")
        var requestedType: String?

        // Derived in prepare.
        fileprivate var subjectSource: TokenSource?
        fileprivate var actorSource: TokenSource?
        fileprivate var requestedURI: String?

        init() {}

        /// Whether the settings give a subject. If not, it is the workload's own token.
        var hasSubject: Bool { subject != nil || subjectFile != nil }

        mutating func prepare(_ grant: Grant, hasWorkload: Bool) throws(SchemeError) {
            guard grant == .tokenExchange else {
                return try OAuth2Auth.refuse(
                    [
                        ("subject-token", subject != nil), ("subject-token-file", subjectFile != nil),
                        ("subject-token-type", subjectType != nil), ("actor-token", actor != nil),
                        ("actor-token-file", actorFile != nil), ("actor-token-type", actorType != nil),
                        ("requested-token-type", requestedType != nil),
                    ], without: "grant=token-exchange")
            }
            guard hasSubject || hasWorkload else {
                throw .badSetting(
                    "subject-token", "is needed for grant=token-exchange; or subject-token-file, token-file or metadata-url")
            }
            // Every platform's own token is a JWT. Any other token is an access token unless the settings say otherwise.
            subjectSource = try TokenSource(
                hasSubject ? (subject, subjectFile) : nil, "subject-token",
                type: subjectType ?? (hasSubject ? "access-token" : "jwt"))
            let hasActor = actor != nil || actorFile != nil
            if hasActor {
                actorSource = try TokenSource((actor, actorFile), "actor-token", type: actorType ?? "access-token")
            } else {
                try OAuth2Auth.refuse([("actor-token-type", actorType != nil)], without: "actor-token")
            }
            requestedURI = try requestedType.map { type throws(SchemeError) in
                try TokenType.uri(type, setting: "requested-token-type")
            }
            if let requestedURI, requestedURI.utf8.elementsEqual(TokenType.refreshToken.utf8) {
                throw .badSetting("requested-token-type", "must be the type of a token that a request can carry")
            }
        }
    }

    let server: TokenEndpoint
    private var settings: Settings { server.scheme.exchange }

    init(_ server: TokenEndpoint) {
        self.server = server
    }

    func run() async throws(SchemeError) -> StoredToken {
        guard let subject = settings.subjectSource else { throw .internal("a token exchange without a subject") }
        var fields: FormFields = ["grant_type": "urn:ietf:params:oauth:grant-type:token-exchange"]
        try await append(subject, as: "subject_token", to: &fields)
        if let actor = settings.actorSource { try await append(actor, as: "actor_token", to: &fields) }
        if let requested = settings.requestedURI { fields.append("requested_token_type", .text(requested)) }
        server.target(&fields)
        let json = try await server.answer(fields).success("the token exchange")
        return try await server.token(in: Self.checked(json, requested: settings.requestedURI))
    }

    private func append(_ source: TokenSource, as name: String, to fields: inout FormFields) async throws(SchemeError) {
        fields.append(name, .secret(try await source.token(server)))
        fields.append("\(name)_type", .text(source.type))
    }

    /// Checks the type of the issued token (§2.2.1). Some servers leave it out.
    ///
    /// - Returns: the response. `N_A` as its `token_type` means that the token isn't an access token; if the user asked for that
    ///   type of token, it is replaced with `Bearer`.
    static func checked(_ json: JSONValue, requested: String?) throws(SchemeError) -> JSONValue {
        guard case .object(let members) = json else { return json }
        let issued = json["issued_token_type"]?.string
        if let requested, let issued, !issued.utf8.elementsEqual(requested.utf8) {
            throw .unsupported("the server issued a token of another type than requested-token-type: \(TokenType.safe(issued))")
        }
        guard let type = json["token_type"]?.string, type.equalsIgnoringCase("n_a") else { return json }
        guard requested != nil else {
            throw .unsupported(
                "the server issued a token that isn't an access token (\(TokenType.safe(issued ?? "unknown type"))); "
                    + "requested-token-type says which one requests should carry")
        }
        return .object(members + [JSONValue.Member("token_type", "Bearer")])
    }
}

/// The source of a token that is sent in a form, and its type.
private struct TokenSource: Sendable {
    private let secret: Secret?
    private let file: TokenFile?
    /// A URI.
    let type: String

    /// - Parameters:
    ///   - given: the secret and the file; nil for the workload's token.
    ///   - setting: the name of the secret's setting. The other settings' names begin with it.
    init(_ given: (secret: Secret?, file: String?)?, _ setting: String, type: String) throws(SchemeError) {
        if given?.secret != nil, given?.file != nil {
            throw .badSetting("\(setting)-file", "can't be given along with \(setting)")
        }
        if let secret = given?.secret, secret.isEmpty { throw .badSetting(setting, "must not be empty") }
        secret = given?.secret
        file = try given?.file.map { path throws(SchemeError) in try TokenFile(path, setting: "\(setting)-file") }
        self.type = try TokenType.uri(type, setting: "\(setting)-type")
    }

    func token(_ server: TokenEndpoint) async throws(SchemeError) -> Secret {
        if let secret { return secret }
        if let file { return try file.read() }
        return try await server.scheme.workload.token(server.flow).text
    }
}

/// The identifiers of token types (RFC 8693 §3).
enum TokenType {
    private static let prefix = "urn:ietf:params:oauth:token-type:"
    static let refreshToken = "\(prefix)refresh_token"

    /// The URI of a type's short name, or the text itself if it is a URI.
    static func uri(_ text: String, setting: String) throws(SchemeError) -> String {
        switch text {
        case "access-token": return "\(prefix)access_token"
        case "refresh-token": return refreshToken
        case "id-token": return "\(prefix)id_token"
        case "jwt", "saml1", "saml2": return prefix + text
        default: break
        }
        guard text.utf8.contains(UInt8(ascii: ":")), text.utf8.allSatisfy({ $0.isVisible }) else {
            throw .badSetting(setting, "must be access-token, id-token, jwt, refresh-token, saml1, saml2 or a URI")
        }
        return text
    }

    /// A type that a server named, for a message: visible ASCII, bounded.
    static func safe(_ type: String) -> String {
        let isSafe = type.utf8.count <= 128 && type.utf8.allSatisfy { $0.isPrintable }
        return isSafe ? type : "a type that can't be shown"
    }
}

internal import NevodPluginKit
internal import NevodSupport

/// The settings of a workload's own identity: a token that its platform issues to it, in a file or from a metadata service. It is
/// the access token itself (`grant=metadata`), the subject of a token exchange, the assertion of a JWT bearer grant, or the
/// client's proof.
struct Workload: Sendable {
    @Setting("token-file", help: "File with a token that the platform renews, such as that of a Kubernetes service account")
    var file: String?
    @Setting("metadata-url", help: "Where the platform issues a token to this machine, container or job") var url: ServerURL?
    @Setting("metadata-method", default: .get, help: "Method of that request") var method: MetadataMethod
    @Setting("metadata-header", help: "Header line of that request, NAME: VALUE") var headers: [String]
    @Setting("metadata-parameter", help: "Query item of that request, NAME=VALUE") var parameters: [String]
    @Setting("metadata-secret", help: "Proof that the platform gave this process, sent as a bearer token") var secret: Secret?
    @Setting("metadata-secret-header", help: "Header for metadata-secret, if it is not Authorization") var secretHeader: String?
    @Setting("metadata-member", help: "JSON member of the response with the token, if it is not access_token") var member: String?
    @Setting("metadata-session-url", help: "Where a PUT request first gets the proof for that request") var sessionURL: ServerURL?
    @Setting("metadata-session-header", help: "Header for that proof, if it is not Authorization") var sessionHeader: String?

    /// Whether there is an identity.
    var isGiven: Bool { file != nil || url != nil }

    // Derived in prepare.
    private var source: Source?

    private enum Source: Sendable {
        case file(TokenFile)
        case service(MetadataService)
    }

    /// A token of the platform.
    struct Token: Sendable {
        let text: Secret
        /// Seconds since 1970 UTC; nil if neither the service nor the token say.
        let expiresAt: Int64?
    }

    init() {}

    /// - Parameter isUsed: whether another setting makes use of an identity.
    mutating func prepare(isUsed: Bool) throws(SchemeError) {
        let service: [(name: String, isGiven: Bool)] = [
            ("metadata-header", !headers.isEmpty), ("metadata-parameter", !parameters.isEmpty),
            ("metadata-secret", secret != nil), ("metadata-secret-header", secretHeader != nil),
            ("metadata-member", member != nil), ("metadata-session-url", sessionURL != nil),
            ("metadata-session-header", sessionHeader != nil),
        ]
        if url == nil { try OAuth2Auth.refuse(service, without: "metadata-url") }
        if !isUsed {
            try OAuth2Auth.refuse([("token-file", file != nil), ("metadata-url", url != nil)], without: "grant=metadata")
        }
        if let file {
            guard url == nil else { throw .badSetting("token-file", "can't be given along with metadata-url") }
            source = .file(try TokenFile(file, setting: "token-file"))
        } else if let url {
            source = .service(try MetadataService(self, url))
        } else if isUsed {
            throw .badSetting("metadata-url", "or token-file is needed for grant=metadata")
        }
    }

    /// Reads the file, or asks the service.
    ///
    /// - Parameter target: what the token is for, if the service is to be told.
    func token(_ flow: AuthFlow, for target: FormFields = FormFields()) async throws(SchemeError) -> Token {
        switch source {
        case .service(let service): return try await service.token(flow, for: target)
        case .file(let file):
            let text = try file.read()
            let expiresAt = Self.expiry(of: text)
            // The host would renew such a token at once, and find the same one again.
            guard expiresAt.map({ $0 > flow.unixSeconds }) ?? true else {
                throw .unavailable(
                    "the token in the file of token-file has expired: has the platform stopped renewing it? \(file.path)")
            }
            return Token(text: text, expiresAt: expiresAt)
        case nil: throw .internal("a workload without an identity")
        }
    }

    /// The expiry (`exp`) of a token that is a JWT, whose signature is for its recipient to verify; nil for any other.
    static func expiry(of token: Secret) -> Int64? {
        let parts = token.withUnsafeBytes { bytes in
            bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false).map { Array($0) }
        }
        guard parts.count == 3, let claims = Base64.decoded(parts[1], .any) else { return nil }
        let json: JSONValue? =
            // A token that can't be read expires when the server says so.
            try? JSONValue(parsing: claims.span, size: 64 << 10, depth: 16)
        return json?["exp"]?.integer.flatMap { (0...MetadataService.latestTime).contains($0) ? $0 : nil }
    }
}

extension OAuth2Auth {
    /// The access token that is the platform's own.
    func workloadToken(_ flow: AuthFlow) async throws(SchemeError) -> StoredToken {
        var target = FormFields()
        TokenEndpoint(of: self, flow, Endpoints(token: "")).target(&target)
        let token = try await workload.token(flow, for: target)
        var stored = StoredToken(accessToken: token.text)
        stored.expiresAt = token.expiresAt
        return stored
    }
}

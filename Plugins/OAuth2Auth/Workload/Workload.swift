internal import CTokenFile
internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

/// The settings of a workload's own identity: a token that its platform issues to it, in a file or from a metadata service. The
/// token may be the access token (`grant=metadata`), the subject of a token exchange, the assertion of a JWT bearer grant, or the
/// client's proof.
struct Workload: Sendable {
    @Setting("token-file", help: "File with a token that the platform renews, such as a Kubernetes service account's")
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

    /// Whether the settings name an identity.
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
        /// Seconds since 1970 UTC; nil if neither the service nor the token says.
        let expiresAt: Int64?
    }

    init() {}

    /// - Parameter isUsed: whether another setting uses an identity.
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
    /// - Parameter target: the recipients and scopes of the token, for a service that needs them.
    func token(_ flow: AuthFlow, for target: FormFields = FormFields()) async throws(SchemeError) -> Token {
        switch source {
        case .service(let service): return try await service.token(flow, for: target)
        case .file(let file):
            let text = try file.read()
            let expiresAt = Self.expiry(of: text)
            // The host would renew such a token at once, and find the same token again.
            guard expiresAt.map({ $0 > flow.unixSeconds }) ?? true else {
                throw .unavailable(
                    "the token in the file of token-file has expired: has the platform stopped renewing it? \(file.path)")
            }
            return Token(text: text, expiresAt: expiresAt)
        case nil: throw .internal("a workload without an identity")
        }
    }

    /// The expiry (`exp`) of a JWT; nil for any other token. Doesn't verify the signature, which is the recipient's task.
    static func expiry(of token: Secret) -> Int64? {
        let parts = token.withUnsafeBytes { bytes in
            bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false).map { Array($0) }
        }
        guard parts.count == 3, let claims = Base64.decoded(parts[1], .any) else { return nil }
        let json: JSONValue? =
            // If the token can't be read, the server decides when it expires.
            try? JSONValue(parsing: claims.span, size: 64 << 10, depth: 16)
        return json?["exp"]?.integer.flatMap { (0...MetadataService.latestTime).contains($0) ? $0 : nil }
    }
}

extension OAuth2Auth {
    /// The platform's own token as the access token.
    func workloadToken(_ flow: AuthFlow) async throws(SchemeError) -> StoredToken {
        var target = FormFields()
        TokenEndpoint(of: self, flow, Endpoints(token: "")).target(&target)
        let token = try await workload.token(flow, for: target)
        var stored = StoredToken(accessToken: token.text)
        stored.expiresAt = token.expiresAt
        return stored
    }
}

/// A file with a token that another program renews: the kubelet, a CI runner, an agent. It is read each time, to find a rotated
/// token. Symbolic links are followed, because Kubernetes replaces a token by changing a link.
///
/// This is the only place where a plugin reads a file, because a setting's source is read only once, when the program starts.
struct TokenFile: Sendable {
    let path: String
    private let setting: String

    /// The largest file in bytes.
    private static let mostBytes = 64 << 10

    init(_ path: String, setting: String) throws(SchemeError) {
        // A relative path would depend on the current directory.
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw .badSetting(setting, "must be an absolute path")
        }
        self.path = path
        self.setting = setting
    }

    /// The file's text without leading and trailing white space.
    ///
    /// - Throws: ``SchemeError/badSetting(_:_:)``, which keeps a stored token, if the file can't be used.
    func read() throws(SchemeError) -> Secret {
        typealias Reading = Result<Secret, SchemeError>
        let result = withUnsafeTemporaryAllocation(byteCount: Self.mostBytes, alignment: 1) { memory -> Reading in
            defer { memory.wipe() }
            guard let start = memory.baseAddress else { return .failure(.internal("no memory for a file")) }
            let file = path.withCString {
                nevod_token_file_read($0, start.assumingMemoryBound(to: UInt8.self), UInt64(memory.count))
            }
            guard Int(file.status) == NEVOD_TOKEN_FILE_READ, file.count <= UInt64(memory.count) else {
                return .failure(.badSetting(setting, "names a file that \(Self.problem(of: file)): \(path)"))
            }
            let content = UnsafeRawBufferPointer(rebasing: memory[..<Int(file.count)])
            let text = UnsafeRawBufferPointer(rebasing: content.trimmed { $0.isCWhitespace })
            guard !text.isEmpty, text.count <= TokenResponse.mostTokenBytes, text.allSatisfy({ $0.isVisible }) else {
                return .failure(
                    .badSetting(setting, "names a file that doesn't hold a token, one line of visible ASCII: \(path)"))
            }
            return .success(Secret(copying: text))
        }
        return try result.get()
    }

    /// Completes the sentence "names a file that …".
    private static func problem(of file: nevod_token_file) -> String {
        let mode = "0\(String(file.mode, radix: 8))"
        return switch Int(file.status) {
        case NEVOD_TOKEN_FILE_MISSING: "doesn't exist"
        case NEVOD_TOKEN_FILE_CLOSED: "this user may not read"
        case NEVOD_TOKEN_FILE_IRREGULAR: "is not a regular file"
        case NEVOD_TOKEN_FILE_FOREIGN: "belongs to user \(file.owner), not to this user or root"
        case NEVOD_TOKEN_FILE_WRITABLE: "other users may write (mode \(mode); chmod go-w forbids it)"
        case NEVOD_TOKEN_FILE_TOO_LARGE: "has more than \(mostBytes) bytes"
        default: "can't be read (error \(file.error))"
        }
    }
}

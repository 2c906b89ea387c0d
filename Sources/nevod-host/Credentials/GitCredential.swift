import NevodHost
import NevodSupport

/// The description of a credential that git sends to its helpers (git-credential(1), "Input/output format"): lines `KEY=VALUE` up
/// to an empty line.
struct GitCredential: Sendable {
    let protocolName: String
    /// The host, with a port if the URL has one.
    let host: String
    /// Nil unless `credential.useHttpPath` is set.
    let path: String?
    let username: String?
    let password: String?
    /// The credential of an authentication scheme; git 2.46 and later.
    let credential: String?
    /// The server's challenges, in their order; git 2.41 and later.
    let challenges: [String]
    /// Whether git understands `authtype` and `credential` (2.46 and later).
    let takesSchemes: Bool

    /// The largest input, in bytes.
    static let largest = 1 << 20

    /// - Throws: ``UsageError`` for a line that isn't `KEY=VALUE`. Unknown keys are ignored, as git asks helpers to do.
    init(_ input: [UInt8]) throws(UsageError) {
        var values: [String: String] = [:]
        var lists: [String: [String]] = [:]
        for line in input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            guard !line.isEmpty else { break }
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")), equals > line.startIndex,
                !line.contains(0), let key = String(validating: line[..<equals], as: UTF8.self),
                let value = String(validating: line[(equals + 1)...], as: UTF8.self)
            else { throw UsageError("standard input is not git's description of a credential: lines KEY=VALUE") }
            guard key.hasSuffix("[]") else {
                values[key] = value
                continue
            }
            // An empty value clears the list.
            if value.isEmpty { lists[key] = [] } else { lists[key, default: []].append(value) }
        }
        protocolName = values["protocol"] ?? ""
        host = values["host"] ?? ""
        path = values["path"]
        username = values["username"].flatMap { $0.isEmpty ? nil : $0 }
        password = values["password"]
        credential = values["credential"]
        challenges = lists["wwwauth[]"] ?? []
        takesSchemes = lists["capability[]"]?.contains("authtype") ?? false
    }

    /// The server's URL; nil for another protocol, or if the host has a slash, which would end the host here but not for git.
    var url: String? {
        guard ["http", "https"].contains(protocolName), !host.isEmpty, !host.utf8.contains(UInt8(ascii: "/")) else { return nil }
        return "\(protocolName)://\(host)/\(path ?? "")"
    }

    /// Whether the server asked for a scheme, or sent no challenges.
    func mayUse(_ scheme: String) -> Bool {
        challenges.isEmpty
            || challenges.contains { challenge in
                challenge.prefix { $0 != " " && $0 != "," }.lowercased() == scheme
            }
    }
}

/// `credential git get`: prints the credential for a server, or nothing, so that git asks its other helpers.
struct GitGet: CredentialWork {
    let request: GitCredential
    let url: String

    func run(_ source: CredentialSource) async throws {
        let credential = try await source.credential(for: url)
        guard var lines = try lines(of: credential, source) else { return }
        if let expiry = credential.expiresAt { lines.append("password_expiry_utc=\(expiry.seconds)") }
        try output(lines.joined(separator: "\n"))
    }

    /// Returns nil if git wants another user's credential.
    private func lines(of credential: IssuedCredential, _ source: CredentialSource) throws -> [String]? {
        switch try credential.form() {
        case .bearer(let token) where request.takesSchemes && request.mayUse("bearer"): return scheme("Bearer", token)
        case .authorization(let name, let value) where request.takesSchemes: return scheme(name, value)
        case .basic(let user, _) where request.username.map { $0 != user } ?? false: return nil
        default:
            let (user, password) = try credential.userAndPassword(user: request.username ?? source.username)
            return ["username=\(user)", "password=\(password)"]
        }
    }

    /// Marked as ephemeral, so that no other helper stores it.
    private func scheme(_ name: String, _ value: String) -> [String] {
        ["capability[]=authtype", "authtype=\(name)", "credential=\(value)", "ephemeral=1"]
    }
}

/// `credential git erase`: a server refused git's credential. If the session still has that credential, the session is renewed,
/// as after a 401 to our own request. Nothing else is erased. Asks no questions and starts no login: git only reports the
/// refusal.
struct GitErase: CredentialWork {
    let request: GitCredential
    let url: String

    func run(_ source: CredentialSource) async throws {
        guard let refused = request.credential ?? request.password else { return }
        Terminal.forbid()
        let present: IssuedCredential
        do {
            guard try await source.isPresent() else { return }
            present = try await source.credential(for: url)
        } catch is SettingSourceError {
            // A person would have to be asked for the credential, so no stored one needs to be renewed.
            return
        }
        let secret =
            switch try present.form() {
            case .bearer(let token), .authorization(_, let token): token
            case .basic(_, let password): password
            case .field(_, let value): value
            }
        // Another process may have renewed the credential meanwhile.
        guard refused == secret else { return }
        try await source.renew(after: request.challenges, for: url)
    }
}

extension CredentialSource {
    /// Whether there is a credential without a login: in a stored session, or in the settings.
    fileprivate func isPresent() async throws -> Bool {
        guard let loaded = try PluginLoader(arguments: arguments, console: console).scheme(), loaded.instance.scheme.hasFlows
        else { return true }
        guard !arguments.has(.noStore) else { return false }
        let login = try SchemeLogin(arguments: arguments, console: console, session: session, scheme: loaded)
        guard let storage = try await login.store().openIfExists() else { return false }
        return try await login.storedName(in: storage) != nil
    }

    /// Renews the session's token, because a server refused it.
    ///
    /// - Parameter challenges: the values of the server's `WWW-Authenticate` lines.
    func renew(after challenges: [String], for url: String) async throws {
        guard let loaded = try PluginLoader(arguments: arguments, console: console).scheme(), loaded.instance.scheme.hasFlows
        else {
            return console.warning("the server refused the credential for \(url); check the settings\(profileText)")
        }
        let login = try SchemeLogin(arguments: arguments, console: console, session: session, scheme: loaded)
        let interceptor = try await login.interceptor()
        let provider = NetworkProvider(
            session: RefusedTransport(session: session, challenges: challenges), interceptor: InterceptorChain([interceptor]))
        let request = try HTTPRequest(.get, url)
        let options = RequestOptions(redirects: .none, schemeParameters: loaded.parameters)
        let response = try await SchemeLogin.savingTokens(of: [login], on: session) {
            try await provider.send(request, options)
        }
        guard response.status == RefusedTransport.refusal else { return }
        console.warning(
            "the server refused the credential for \(url), and the session can't be renewed; log in again: "
                + LoginCommandLine.text(arguments))
    }

    private var profileText: String { arguments.value(.profile).map { " of the profile \($0)" } ?? "" }
}

/// Sends nothing. Responds as the other program's server did: with 401 to the first request, and with 204 to the request that is
/// authorized anew.
final class RefusedTransport: HTTPTransport {
    static let refusal = 401
    private let session: CurlSession
    private let challenges: [String]
    private let hasRefused = Locked(false)

    init(session: CurlSession, challenges: [String]) {
        self.session = session
        self.challenges = challenges
    }

    var executor: (any TaskExecutor)? { session.executor }

    func prepare(_ request: inout HTTPRequest) { session.prepare(&request) }

    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        let isFirst = hasRefused.withLock { hasRefused in
            defer { hasRefused = true }
            return !hasRefused
        }
        guard isFirst else { return Self.response(204, "No Content", HTTPHeaders()) }
        var headers = HTTPHeaders()
        for challenge in challenges { headers.add("WWW-Authenticate", challenge, by: .host) }
        return Self.response(Self.refusal, "Unauthorized", headers)
    }

    private static func response(_ status: Int, _ reason: String, _ headers: HTTPHeaders) -> HTTPResponse {
        HTTPResponse(version: .http11, status: status, reason: reason, headers: headers, body: .bytes([]))
    }
}

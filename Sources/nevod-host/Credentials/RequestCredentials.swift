import NevodHost
import NevodSupport

/// Makes the interceptors for a request's flags: the credentials of `-u`, `--bearer` and netrc files, and what redirects need.
struct RequestCredentials: Sendable {
    let arguments: Arguments
    let console: Console
    /// The secrets of `-u` and `--bearer`: read, or asked for, once for all requests.
    private let known: SecretsRead?

    init(arguments: Arguments, console: Console) {
        self.arguments = arguments
        self.console = console
        known = arguments.has(.user) || arguments.has(.bearer) ? SecretsRead() : nil
    }

    /// Refuses a secret that was typed, before anything is sent. An Authorization line of `-H` replaces these secrets, so they
    /// are then not checked.
    func check() throws(UsageError) {
        guard !arguments.values(.header).contains(where: { $0.lowercased().hasPrefix("authorization:") }) else { return }
        if let bearer = arguments.value(.bearer) { try checkToken(bearer) }
        if let user = arguments.value(.user) { try UserSource.check(user, flag: "-u") }
    }

    /// Whether a flag names a credential.
    var isGiven: Bool { [.user, .bearer, .netrc, .netrcFile, .netrcOptional].contains { arguments.has($0) } }

    /// - Parameter typedNames: the names of the `-H` lines, in lower case.
    func interceptors(for request: HTTPRequest, typedNames: Set<String>) throws -> [any RequestInterceptor] {
        var interceptors: [any RequestInterceptor] = []
        if let proto = arguments.value(.proto) { interceptors.append(ProtocolCheck(allowed: try AllowedProtocols(proto))) }
        if arguments.value(.referer)?.hasSuffix(";auto") == true { interceptors.append(RefererInterceptor()) }
        if let credential = try credential(for: request, typedNames) { interceptors.append(credential) }
        return interceptors
    }

    private func credential(for request: HTTPRequest, _ typedNames: Set<String>) throws -> (any RequestInterceptor)? {
        let given = [
            (arguments.has(.user), "-u"), (arguments.has(.bearer), "--bearer"),
            (arguments.has(.netrc) || arguments.has(.netrcFile) || arguments.has(.netrcOptional), "the netrc file"),
        ].filter(\.0).map(\.1)
        guard !given.isEmpty else { return nil }
        guard !typedNames.contains("authorization") else {
            console.warning("-H gives the Authorization line, so \(given.joined(separator: " and ")) is not used")
            return nil
        }
        let userAndPassword = try userAndPassword(for: request)
        if let bearer = arguments.value(.bearer) {
            if userAndPassword != nil { console.warning("--bearer gives the credential, so the name and password are not used") }
            return TokenInterceptor(OAuthToken(accessToken: try token(bearer)))
        }
        guard let userAndPassword else { return nil }
        switch method {
        case .digest, .anyAuth: return ChallengedInterceptor(userAndPassword, allowsBasic: method == .anyAuth)
        default: return TokenInterceptor(BasicCredential(userAndPassword))
        }
    }

    /// The last of `--basic`, `--digest` and `--anyauth`. `--basic --digest` allows either, as in curl.
    private var method: Flag.Name {
        let given = arguments.flags.map(\.name).filter { [.basic, .digest, .anyAuth].contains($0) }
        return Set(given) == [.basic, .digest] ? .anyAuth : given.last ?? .basic
    }

    private func token(_ source: String) throws -> String {
        try checkToken(source)
        let read = { try SecretSource(console: console).read(source, what: "--bearer") }
        let token = try known?.secret(source, read) ?? read()
        return token.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// The name and the password from `-u`, or else from the netrc file.
    private func userAndPassword(for request: HTTPRequest) throws -> Secret? {
        if let user = arguments.value(.user) {
            let read = { try UserSource(console: console).userAndPassword(user) }
            return try known?.secret(user, read) ?? read()
        }
        guard arguments.has(.netrc) || arguments.has(.netrcFile) || arguments.has(.netrcOptional) else { return nil }
        return try netrc(isOptional: arguments.has(.netrcOptional), request.origin.host)
    }
}

/// Secrets by the text that names their source.
private final class SecretsRead: Sendable {
    private let secrets = Locked<[String: Secret]>([:])

    func secret(_ source: String, _ read: () throws -> Secret) throws -> Secret {
        try secrets.withLock { secrets in
            if let secret = secrets[source] { return secret }
            let secret = try read()
            secrets[source] = secret
            return secret
        }
    }
}

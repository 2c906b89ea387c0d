import NevodHost

/// The credentials of the requests that have the same plugin, settings and user: loaded, and logged in, once for all of them.
struct RequestAuthorization: Sendable {
    /// The plugin's login; nil without a plugin.
    let login: SchemeLogin?
    private let scheme: (any RequestInterceptor)?
    private let credentials: RequestCredentials
    private let console: Console
    /// The jar of `-b` and `-c`, which the requests share; nil if no cookies are kept.
    let cookies: SharedCookies?

    init(_ arguments: Arguments, _ console: Console, _ session: CurlSession) async throws {
        // Before a password is asked for.
        try CredentialScope(arguments).check()
        credentials = RequestCredentials(arguments: arguments, console: console)
        try credentials.check()
        let options = CookieOptions(arguments: arguments, console: console)
        cookies = options.keepsCookies ? SharedCookies(options) : nil
        self.console = console
        if let scheme = try PluginLoader(arguments: arguments, console: console).scheme() {
            let login = try SchemeLogin(arguments: arguments, console: console, session: session, scheme: scheme)
            self.scheme = try await login.interceptor()
            self.login = login
        } else {
            (scheme, login) = (nil, nil)
        }
    }

    /// Whether nothing authorizes a request.
    var isEmpty: Bool { scheme == nil && !credentials.isGiven }

    /// Returns the interceptors in the order in which they change a request.
    ///
    /// - Parameter typedNames: the names of the `-H` lines, in lower case.
    func interceptors(for request: HTTPRequest, typedNames: Set<String> = []) throws -> [any RequestInterceptor] {
        let own = try credentials.interceptors(for: request, typedNames: typedNames)
        guard let scheme else { return own }
        return own + [scheme]
            + (typedNames.isEmpty ? [] : [ReplacedLines(typed: request, typedNames: typedNames, console: console)])
    }

    /// Whether a renewal may be under way, whose token must not be lost when the command ends.
    var mayRenew: Bool { login?.scheme.instance.scheme.hasFlows ?? false }

    /// The flags that decide about a plugin and its session, or about the connection that they use.
    static func key(of arguments: Arguments) -> [String] {
        let names = (Flag.authorization + Flag.sessions + Flag.connection + Flag.credentials + Flag.pasted).map(\.name) + [.user]
        return arguments.flags.filter { names.contains($0.name) }.map { "\($0.name)=\($0.value)" }
    }
}

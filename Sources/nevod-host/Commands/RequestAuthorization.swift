import NevodHost
import NevodSupport

/// The credentials of all requests with the same plugin, settings and user. The plugin is loaded, and logged in, once for all of
/// them.
struct RequestAuthorization: Sendable {
    /// The plugin's scheme; nil without a plugin.
    let scheme: LoadedScheme?
    /// The scheme's login; nil for a scheme whose settings are its credential.
    let login: SchemeLogin?
    /// Puts the scheme's credential on requests.
    private let interceptor: (any RequestInterceptor)?
    private let credentials: RequestCredentials
    private let console: Console
    /// The jar of `-b` and `-c`, shared by the requests; nil if no cookies are kept.
    let cookies: SharedCookies?

    init(_ arguments: Arguments, _ console: Console, _ session: CurlSession) async throws {
        // Checks the origins and the flags before asking for a password.
        try CredentialScope(arguments).check()
        _ = try SessionBuilder(arguments: arguments).options()
        credentials = RequestCredentials(arguments: arguments, console: console)
        try credentials.check()
        let options = CookieOptions(arguments: arguments, console: console)
        cookies = options.keepsCookies ? SharedCookies(options) : nil
        self.console = console
        let scheme = try PluginLoader(arguments: arguments, console: console).scheme()
        self.scheme = scheme
        if let scheme, scheme.instance.scheme.hasFlows {
            let login = try SchemeLogin(arguments: arguments, console: console, session: session, scheme: scheme)
            interceptor = try await login.interceptor()
            self.login = login
        } else {
            interceptor = scheme?.interceptor(session)
            login = nil
            try CommandLineAnswers(arguments, console: console).warnAboutUnused()
        }
    }

    /// Whether nothing authorizes a request.
    var isEmpty: Bool { scheme == nil && !credentials.isGiven }

    /// The parameters of the requests for the scheme.
    var parameters: SchemeParameters { scheme?.parameters ?? SchemeParameters() }

    /// Returns the interceptors in the order in which they change a request.
    ///
    /// - Parameter typedNames: the names of the `-H` lines, in lower case.
    func interceptors(for request: HTTPRequest, typedNames: Set<String> = []) throws -> [any RequestInterceptor] {
        let own = try credentials.interceptors(for: request, typedNames: typedNames)
        guard let interceptor else { return own }
        return own + [interceptor]
            + (typedNames.isEmpty ? [] : [ReplacedLines(typed: request, typedNames: typedNames, console: console)])
    }

    /// The flags that determine the plugin, its session, and the connection that they use.
    static func key(of arguments: Arguments) -> [String] {
        let names = (Flag.authorization + Flag.sessions + Flag.connection + Flag.credentials + Flag.pasted).map(\.name) + [.user]
        return arguments.flags.filter { names.contains($0.name) }.map { "\($0.name)=\($0.value)" }
    }
}

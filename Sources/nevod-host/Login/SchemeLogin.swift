import NevodHost
import NevodSupport

/// The login of a scheme with flows. Provides the interceptor that authorizes requests with a stored session, or after a login.
final class SchemeLogin: Sendable {
    let arguments: Arguments
    let console: Console
    let scheme: LoadedScheme
    let givenAnswers: CommandLineAnswers
    let executor: (any TaskExecutor)?
    /// The session that provides the request's token, if it is in the store.
    let stored = Locked<SchemeSession?>(nil)
    /// The session that provides the request's token, in the store or in memory.
    private let used = Locked<SchemeSession?>(nil)
    private let began = ContinuousClock.now
    private let reporter: LoginReporter
    private let transport: LoginTransport
    private let interaction: TerminalInteraction

    init(arguments: Arguments, console: Console, session: CurlSession, scheme: LoadedScheme) throws {
        self.arguments = arguments
        self.console = console
        self.scheme = scheme
        executor = session.executor
        givenAnswers = try CommandLineAnswers(arguments, console: console)
        reporter = LoginReporter(console: console, origins: scheme.instance.purpose.origins)
        transport = LoginTransport(
            session: session, reporter: reporter, console: console,
            connectTimeout: try SessionBuilder(arguments: arguments).options().connectTimeout,
            client: try RequestBuilder(arguments: arguments).clientLines())
        // `login` itself, and a command with --no-store, don't suggest the login command.
        let isKept = arguments.command != .login && !arguments.has(.noStore)
        interaction = TerminalInteraction(
            scheme: scheme.instance.scheme, givenAnswers: givenAnswers, reporter: reporter, console: console,
            loginCommand: isKept ? LoginCommandLine.text(arguments, adding: try Self.unnamed(arguments, scheme)) : nil)
    }

    /// The origins of the URLs that a login without these URLs would not allow; empty if the session is for any origin.
    private static func unnamed(_ arguments: Arguments, _ scheme: LoadedScheme) throws -> [Origin] {
        let named = scheme.instance.purpose.origins
        guard !named.isEmpty, arguments.profile == nil else { return [] }
        let given = try CredentialScope(arguments).added()
        return CredentialScope(arguments).ofURLs.filter { !given.contains($0) && !named.contains($0.description) }
    }

    /// Returns the interceptor, after a login if necessary.
    func interceptor() async throws -> any RequestInterceptor {
        if arguments.has(.noStore) {
            defer { givenAnswers.warnAboutUnused() }
            let session = try await sessionAfterLogin()
            used.withLock { $0 = session }
            return session.interceptor
        }
        // Opens an existing store before asking any question, and creates one only after the login has succeeded.
        let existing = try await store().openIfExists()
        if let existing, let name = try await storedName(in: existing) {
            try CredentialScope(arguments).check(name)
            let session = session(name, in: existing)
            try await warnIfAnswersAreIgnored(session)
            return storing(session)
        }
        defer { givenAnswers.warnAboutUnused() }
        let (name, token, inMemory) = try await logIn()
        do {
            let storage = if let existing { existing } else { try await store().openOrCreate() }
            try await keep(token, name, in: storage)
            return storing(session(name, in: storage))
        } catch {
            // A one-time code can't be used again, so the session serves at least this command.
            console.warning("this session can't be stored and ends with this command: \(error)")
            used.withLock { $0 = inMemory }
            return inMemory.interceptor
        }
    }

    /// The expiry of the token that requests carry now; nil if it is unknown, or there is no token.
    func tokenExpiry() async throws -> UnixTime? {
        try await used.withLock(\.self)?.tokenStorage(for: scheme.parameters).load()?.expiresAt
    }

    private func storing(_ session: SchemeSession) -> SchemeInterceptor {
        stored.withLock { $0 = session }
        used.withLock { $0 = session }
        return session.interceptor
    }

    /// Whether the scheme has sent a request.
    var hasSent: Bool { reporter.hasSent }

    func store() throws -> SessionStore {
        try SessionStore(arguments, givenAnswers, console)
    }

    func session(_ name: SessionName, in storage: some KeyValueStorage) -> SchemeSession {
        session(storage: storage, key: name.baseKey, account: name.account)
    }

    private func session(storage: some KeyValueStorage, key: StorageKey?, account: String) -> SchemeSession {
        var session = SchemeSession(
            scheme.instance, storage: storage, key: key, account: account, session: transport, interaction: interaction,
            logger: LoginLog(console: console, loginCommand: interaction.loginCommand))
        session.workBegan = began
        return session
    }

    /// Logs in with a session in memory, because its key in the store includes the account, which may be known only after the
    /// login.
    func logIn() async throws -> (SessionName, PluginToken, SchemeSession) {
        let session = try await sessionAfterLogin()
        guard let token = try await session.tokenStorage(for: scheme.parameters).load() else { throw NetworkError.unauthorized }
        return (try name.with(account: arguments.value(.account) ?? token.account), token, session)
    }

    private func sessionAfterLogin() async throws -> SchemeSession {
        let session = session(storage: InMemoryStorage(), key: nil, account: arguments.value(.account) ?? "")
        let parameters = scheme.parameters
        try await Interruption.shared.cancelling(on: executor) { try await session.login(parameters: parameters) }
        return session
    }
}

import NevodHost
import NevodSupport

/// Provides the interceptor that authorizes requests: with a stored session, or after a login. A scheme without flows sends nothing
/// and doesn't use the store.
final class SchemeLogin: Sendable {
    let arguments: Arguments
    let console: Console
    let transfer: CurlSession
    let scheme: LoadedScheme
    let givenAnswers: CommandLineAnswers
    /// The parameters of the request, for which the session is.
    let parameters: SchemeParameters
    /// The end of the session's key; empty without parameters.
    private let keySuffix: String
    /// The session whose token the request carries, if it is in the store.
    private let stored = Locked<SchemeSession?>(nil)
    /// The session whose token the request carries, in the store or in memory.
    private let used = Locked<SchemeSession?>(nil)
    private let began = ContinuousClock.now
    private let reporter: LoginReporter
    private let transport: LoginTransport
    private let interaction: TerminalInteraction

    init(arguments: Arguments, console: Console, session: CurlSession, scheme: LoadedScheme) throws {
        self.arguments = arguments
        self.console = console
        self.scheme = scheme
        transfer = session
        parameters = try SessionBuilder(arguments: arguments).schemeParameters()
        try scheme.instance.scheme.checkNames(of: parameters)
        keySuffix = arguments.command == .logout ? "" : try scheme.instance.keySuffix(for: parameters)
        givenAnswers = try CommandLineAnswers(arguments, console: console)
        reporter = LoginReporter(console: console, origins: scheme.instance.purpose.origins)
        transport = LoginTransport(
            session: session, reporter: reporter, console: console,
            connectTimeout: try SessionBuilder(arguments: arguments).options().connectTimeout,
            client: try RequestBuilder(arguments: arguments).clientLines())
        // The login command itself, and one with --no-store, don't suggest the login command.
        let isKept = arguments.command != .login && !arguments.has(.noStore)
        interaction = TerminalInteraction(
            scheme: scheme.instance.scheme, givenAnswers: givenAnswers, reporter: reporter, console: console,
            loginCommand: isKept ? LoginCommandLine.text(arguments, adding: try Self.unnamed(arguments, scheme)) : nil)
    }

    /// The origins of the URL that a login without it would not be for; none where any would do.
    private static func unnamed(_ arguments: Arguments, _ scheme: LoadedScheme) throws -> [Origin] {
        let named = scheme.instance.purpose.origins
        guard !named.isEmpty, arguments.profile == nil else { return [] }
        let given = try CredentialScope(arguments).added()
        return CredentialScope(arguments).ofURLs.filter { !given.contains($0) && !named.contains($0.description) }
    }

    /// Logs in, if need be.
    func interceptor() async throws -> any RequestInterceptor {
        let instance = scheme.instance
        guard instance.scheme.hasFlows else {
            defer { givenAnswers.warnAboutUnused() }
            // Avoids a session where possible: it costs a short process a twelfth of its instructions.
            return instance.authorizesAlone
                ? TokenInterceptor(instance.token) : sessionInMemory().interceptor
        }
        if arguments.has(.noStore) {
            defer { givenAnswers.warnAboutUnused() }
            let scheme = sessionInMemory()
            try await Interruption.shared.cancelling(on: transfer.executor) {
                try await scheme.login(parameters: self.parameters)
            }
            used.withLock { $0 = scheme }
            return scheme.interceptor
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
        try await used.withLock(\.self)?.tokenStorage(for: parameters).load()?.expiresAt
    }

    /// Warns if the answers name another account than the stored session's, because the session is used all the same.
    private func warnIfAnswersAreIgnored(_ session: SchemeSession) async throws {
        let texts = givenAnswers.plainTexts
        guard !texts.isEmpty, let account = try? await session.tokenStorage(for: parameters).load()?.account, !account.isEmpty,
            !texts.contains(account)
        else { return }
        console.warning(
            "the stored session of \(TerminalText.safe(account)) is used and the answers are ignored; "
                + "to log in with another account: \(LoginCommandLine.text(arguments))")
    }

    private func storing(_ session: SchemeSession) -> SchemeInterceptor {
        stored.withLock { $0 = session }
        used.withLock { $0 = session }
        return session.interceptor
    }

    /// The longest waits before the command ends, in seconds: for a pending token, and for a lock that is being released.
    static let gracePeriod = 30
    private static let releasePeriod = 3

    /// Waits until a pending renewal has finished and its token is saved, and warns if it is not. Call before the command ends.
    func waitForPendingToken() async {
        await Interruption.shared.rescuing(saveToken)
    }

    private func saveToken() async {
        guard let session = stored.withLock(\.self) else { return }
        // In separate tasks: this one may be cancelled and would not wait.
        guard hasSent else {
            // A scheme that has sent nothing has spent no token: a renewal would only be waiting for another process, or a person.
            let end = ContinuousClock.now + .seconds(Self.releasePeriod)
            return await Task(executorPreference: transfer.executor) { await session.waitForRelease(until: end) }.value
        }
        let console = console
        let notice = Task {
            try await Task.sleep(for: .seconds(1))
            console.inform(
                "waiting up to \(Self.gracePeriod) s for the response to a token renewal; without it the session would be lost")
        }
        defer { notice.cancel() }
        let end = ContinuousClock.now + .seconds(Self.gracePeriod)
        let saving = Task(executorPreference: transfer.executor) { await session.waitForRenewalAndSave(until: end) }
        guard await !saving.value else { return }
        console.warning(
            "the session was renewed but could not be saved; if the server refuses it, run: \(LoginCommandLine.text(arguments))")
    }

    /// Whether the scheme has sent a request.
    var hasSent: Bool { reporter.hasSent }

    func store() throws -> SessionStore {
        try SessionStore(arguments, givenAnswers, console)
    }

    func session(_ name: SessionName, in storage: some KeyValueStorage) -> SchemeSession {
        session(storage: storage, key: name.baseKey, account: name.account)
    }

    private func sessionInMemory() -> SchemeSession {
        session(storage: InMemoryStorage(), key: nil, account: arguments.value(.account) ?? "")
    }

    private func session(storage: some KeyValueStorage, key: StorageKey?, account: String) -> SchemeSession {
        var session = SchemeSession(
            scheme.instance, storage: storage, key: key, account: account, session: transport, interaction: interaction,
            logger: LoginLog(console: console, loginCommand: interaction.loginCommand))
        session.workBegan = began
        return session
    }

    /// Finds the stored session that the arguments select; nil if there is none.
    func storedName(in storage: any SealedStorage) async throws -> SessionName? {
        let found = try await storedNames(in: storage).filter { $0.parameters == keySuffix }
        // Two commands that logged in at once may have left two.
        return found.first { (try? CredentialScope(arguments).check($0)) != nil } ?? found.first
    }

    /// Finds the sessions of the account that the arguments select, for any set of parameters.
    func storedNames(in storage: any SealedStorage) async throws -> [SessionName] {
        let name = try name
        let names = try await storage.keys(withPrefix: name.prefix).compactMap(SessionName.init)
        let isForAny = arguments.command == .logout
        let accounts = Set(names.filter { isForAny || $0.parameters == keySuffix }.map(\.account)).sorted()
        if let account = arguments.value(.account) { return names.filter { $0.account == account } }
        guard accounts.count <= 1 else {
            let list = accounts.map { $0.isEmpty ? "\"\"" : $0 }.joined(separator: ", ")
            throw UsageError("there are sessions of several accounts: \(list); choose one with --account")
        }
        return names.filter { $0.account == accounts.first }
    }

    private var name: SessionName {
        get throws {
            var name = SessionName(profile: arguments.profile?.name ?? "", scheme: scheme)
            name.parameters = keySuffix
            name.furtherOrigins = try CredentialScope(arguments).toStore(beyond: name.origins)
            return name
        }
    }

    /// Logs in with a session in memory: its key in the store needs the account, which may be known only after the login.
    func logIn() async throws -> (SessionName, PluginToken, SchemeSession) {
        let scheme = sessionInMemory()
        try await Interruption.shared.cancelling(on: transfer.executor) { try await scheme.login(parameters: self.parameters) }
        guard let token = try await scheme.tokenStorage(for: parameters).load() else { throw NetworkError.unauthorized }
        return (try name.with(account: arguments.value(.account) ?? token.account), token, scheme)
    }

    func keep(_ token: PluginToken, _ name: SessionName, in storage: any SealedStorage) async throws {
        try await session(name, in: storage).tokenStorage(for: parameters).save(token)
        // A login replaces the account's session, whatever that one was for.
        for old in try await storage.keys(withPrefix: name.prefix).compactMap(SessionName.init)
        where old.account == name.account && old.parameters == name.parameters && old != name {
            try await storage.set(nil as Secret?, for: old.key)
        }
    }
}

import NevodHost
import NevodSupport

/// Lets a scheme that has flows log in, or takes the session that an earlier command has left, and gives what authorises requests
/// then. A scheme without flows sends nothing, and has nothing to do with the store.
final class SchemeLogin: Sendable {
    let arguments: Arguments
    let console: Console
    let transfer: CurlSession
    let scheme: LoadedScheme
    let given: GivenAnswers
    /// Whose token the request carries, if it is kept.
    private let kept = Locked<SchemeSession?>(nil)
    private let notes: LoginNotes
    private let transport: LoginTransport
    private let interaction: TerminalInteraction

    init(arguments: Arguments, console: Console, session: CurlSession, scheme: LoadedScheme) throws {
        self.arguments = arguments
        self.console = console
        self.scheme = scheme
        transfer = session
        given = try GivenAnswers(arguments, console: console)
        notes = LoginNotes(console: console, named: scheme.instance.purpose.origins)
        transport = LoginTransport(
            session: session, notes: notes, console: console,
            connectTimeout: try SessionBuilder(arguments: arguments).options().connectTimeout)
        // Who logs in, or wants nothing kept, is not told to log in.
        let isKept = arguments.command != .login && !arguments.has(.noStore)
        interaction = TerminalInteraction(
            scheme: scheme.instance.scheme, given: given, notes: notes, console: console,
            loginCommand: isKept ? LoginLine.text(arguments) : nil)
    }

    /// People think as long as they like, so a login is over before a request's time begins.
    func interceptor() async throws -> any RequestInterceptor {
        let instance = scheme.instance
        guard instance.scheme.hasFlows else {
            defer { given.complain() }
            // A session costs a short process a twelfth of its instructions.
            return instance.authorizesAlone
                ? TokenInterceptor(instance.token) : session(storage: InMemoryStorage(), key: nil).interceptor
        }
        if arguments.has(.noStore) {
            defer { given.complain() }
            let scheme = session(storage: InMemoryStorage(), key: nil)
            try await Interruption.shared.cancelling(on: transfer.executor) { try await scheme.login() }
            return scheme.interceptor
        }
        // What exists is opened before anybody is asked for anything; nothing is made for a login that fails.
        let existing = try await store().openIfThere()
        if let existing, let name = try await stored(in: existing) {
            let session = session(storage: existing, key: name.key)
            try await warnOfOthersAnswers(session)
            return keeping(session)
        }
        defer { given.complain() }
        let (name, token, inMemory) = try await logIn()
        do {
            let storage = if let existing { existing } else { try await store().openOrMake() }
            try await keep(token, name, in: storage)
            return keeping(session(storage: storage, key: name.key))
        } catch {
            // A one-time code can't be given twice: what it has bought serves this command at least.
            console.warning("this session can't be kept, and ends with this command: \(error)")
            return inMemory.interceptor
        }
    }

    /// Who answers with one name, and gets another's session because that is the one which is stored, has to know.
    private func warnOfOthersAnswers(_ session: SchemeSession) async throws {
        let texts = given.texts
        guard !texts.isEmpty, let account = try? await session.tokenStorage.load()?.account, !account.isEmpty,
            !texts.contains(account)
        else { return }
        console.warning(
            "the stored session of \(TerminalText.safe(account)) is used, and none of the answers; "
                + "another account logs in with: \(LoginLine.text(arguments))")
    }

    private func keeping(_ session: SchemeSession) -> SchemeInterceptor {
        kept.withLock { $0 = session }
        return session.interceptor
    }

    /// In seconds.
    static let patience = 30

    /// Before the command ends, however it ends: a token that the server has issued meanwhile is saved, or that is said.
    func settle() async {
        // As long as the scheme has sent nothing, no server has spent a token: all that is waited for is another process.
        guard let session = kept.withLock(\.self), hasSent else { return }
        let console = console
        let telling = Task {
            try await Task.sleep(for: .seconds(1))
            console.inform("waiting up to \(Self.patience) s for the answer to a renewal, or the session would be lost")
        }
        defer { telling.cancel() }
        // A task of its own: this one may have been cancelled, and would not wait.
        let settling = Task(executorPreference: transfer.executor) {
            await session.waitForRenewalAndSave(until: .now + .seconds(Self.patience))
        }
        guard await !settling.value else { return }
        console.warning(
            "the session was renewed, and could not be saved; if it is refused from now on, run: \(LoginLine.text(arguments))")
    }

    /// Whether a server has been asked anything.
    var hasSent: Bool { notes.hasSent }

    func store() throws -> SessionStore {
        try SessionStore(arguments, given, console)
    }

    func session(storage: some KeyValueStorage, key: StorageKey?) -> SchemeSession {
        SchemeSession(scheme.instance, storage: storage, key: key, session: transport, interaction: interaction)
    }

    /// The one that is meant; nil if there is none.
    func stored(in storage: any SealedStorage) async throws -> SessionName? {
        let name = name
        let accounts = try await storage.keys(withPrefix: name.prefix).compactMap { SessionName($0)?.account }
        if let account = arguments.value(.account) { return accounts.contains(account) ? name.with(account: account) : nil }
        guard accounts.count <= 1 else {
            let list = accounts.map { $0.isEmpty ? "\"\"" : $0 }.joined(separator: ", ")
            throw UsageError("there are sessions of several accounts: \(list); choose one with --account")
        }
        return accounts.first.map(name.with(account:))
    }

    private var name: SessionName { SessionName(profile: arguments.value(.profile) ?? "", scheme: scheme) }

    /// Whose session it is, may be known only when it is there: so it is in memory first, where it serves as well.
    func logIn() async throws -> (SessionName, PluginToken, SchemeSession) {
        let scheme = session(storage: InMemoryStorage(), key: nil)
        try await Interruption.shared.cancelling(on: transfer.executor) { try await scheme.login() }
        guard let token = try await scheme.tokenStorage.load() else { throw NetworkError.unauthorized }
        return (name.with(account: arguments.value(.account) ?? token.account), token, scheme)
    }

    func keep(_ token: PluginToken, _ name: SessionName, in storage: any SealedStorage) async throws {
        try await TokenStorage<PluginToken>(storage: storage, key: name.key).save(token)
    }
}

/// The command that logs in to where these arguments want to go.
enum LoginLine {
    private static let repeated: [Flag.Name] = [
        .profile, .plugin, .scheme, .set, .account, .store, .storeKey, .connectTimeout, .proxy, .caFile, .pinnedKey,
        .certificate, .key,
    ]

    /// With what was typed; the rest comes with the profile. Of a secret that is where it comes from: nothing else is accepted
    /// for one.
    static func text(_ arguments: Arguments) -> String {
        var words = ["nevod-host", "login"]
        for (name, value) in arguments.typed where repeated.contains(name) {
            guard let flag = Flag.all.first(where: { $0.name == name }) else { continue }
            words += ["--\(flag.long)", ShellWord.quoted(value)]
        }
        return words.joined(separator: " ")
    }
}

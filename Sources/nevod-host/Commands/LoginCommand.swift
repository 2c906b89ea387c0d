import NevodHost
import NevodSupport

/// `login`: logs in and keeps the session for later commands.
struct LoginCommand {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    func run() async throws {
        guard arguments.operands.isEmpty else {
            return try await Discovery(arguments: arguments, console: console, session: session).run()
        }
        for name in [Flag.Name.yes, .profileName] where arguments.has(name) {
            throw UsageError("\(name.spelling) is for a login with a URL: nevod-host login URL \(name.spelling)")
        }
        try await logIn()
    }

    /// Logs in with the plugin of the arguments, and keeps the session.
    ///
    /// - Parameter succeeded: called between the login and the keeping of its session, which a failure prevents.
    func logIn(_ succeeded: () throws -> Void = {}) async throws {
        guard !arguments.has(.origin) || arguments.profile == nil else {
            throw UsageError("login takes no --origin with a profile; write a line origins = URL into the profile")
        }
        let scheme = try PluginLoader(arguments: arguments, console: console).scheme("login")
        let login = try SchemeLogin(arguments: arguments, console: console, session: session, scheme: scheme)
        let store = try login.store()
        let storage = try await store.openOrCreate()
        defer { login.givenAnswers.warnAboutUnused() }
        let (name, token, _) = try await login.logIn()
        try succeeded()
        try await login.keep(token, name, in: storage)
        var words = "logged in"
        if !token.account.isEmpty { words += " as \(TerminalText.safe(token.account))" }
        words += " with \"\(scheme.instance.scheme.title)\""
        if !name.origins.isEmpty { words += " at \(name.origins.joined(separator: ", "))" }
        if !name.furtherOrigins.isEmpty { words += ", for \(name.furtherOrigins.joined(separator: ", "))" }
        words += token.expiresAt.map { ", until \(StoredSession.text(of: $0))" } ?? ""
        // The name of `--account` is the user's own and may differ from the account that logged in.
        let account = name.account == token.account ? "" : " as the account \"\(TerminalText.safe(name.account))\""
        try output("\(words)\nkept\(account) in \(store.path), sealed by \(store.seal(of: storage))")
    }
}

/// `logout`: ends the session at the server and clears it here, whatever the server responds.
struct LogoutCommand {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    func run() async throws {
        guard arguments.operands.isEmpty else { throw UsageError("logout takes no URL: nevod-host logout --plugin NAME") }
        let scheme = try PluginLoader(arguments: arguments, console: console).scheme("logout")
        let login = try SchemeLogin(arguments: arguments, console: console, session: session, scheme: scheme)
        guard let storage = try await login.store().openIfExists() else { return try sayNothingStored() }
        // One for each set of origins that the account's sessions are for; a logout ends those for all parameters.
        var names: [SessionName] = []
        for name in try await login.storedNames(in: storage) where !names.contains(where: { $0.baseKey == name.baseKey }) {
            names.append(name)
        }
        guard let first = names.first else { return try sayNothingStored() }
        let what = first.account.isEmpty ? "" : " \(TerminalText.safe(first.account))"
        for name in names { try await end(login.session(name, in: storage), name.baseKey, what, in: storage) }
        if !login.hasSent {
            console.warning(
                "the session\(what) is cleared here, but nothing was sent to the server, which may still accept it; "
                    + "the scheme may have a setting for the logout address: nevod-host inspect \(arguments.value(.plugin) ?? "")"
            )
        }
        try output("logged out\(what)")
    }

    private func sayNothingStored() throws {
        try output("there is no session to log out of; nevod-host sessions lists the stored ones")
    }

    private func end(_ scheme: SchemeSession, _ key: StorageKey, _ what: String, in storage: any SealedStorage) async throws {
        do {
            try await Interruption.shared.cancelling(on: session.executor) { try await scheme.logout() }
        } catch {
            // A session that can't be read can't be ended at the server.
            if (error as? StorageError)?.code == .damaged { try await storage.set(nil as Secret?, for: key) }
            if try await storage.secret(for: key) == nil {
                console.warning("the session\(what) is cleared here, but the server may not know")
            }
            throw error
        }
    }
}

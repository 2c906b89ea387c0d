import NevodHost
import NevodSupport

/// `login`: logs in and keeps the session for later commands.
struct LoginCommand {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    func run() async throws {
        guard arguments.operands.isEmpty else { throw UsageError("login takes no URL: nevod-host login --plugin NAME") }
        let scheme = try PluginLoader(arguments: arguments, console: console).scheme("login")
        let login = try SchemeLogin(arguments: arguments, console: console, session: session, scheme: scheme)
        let store = try login.store()
        let storage = try await store.openOrCreate()
        defer { login.givenAnswers.warnAboutUnused() }
        let (name, token, _) = try await login.logIn()
        try await login.keep(token, name, in: storage)
        var words = "logged in"
        if !token.account.isEmpty { words += " as \(TerminalText.safe(token.account))" }
        words += " with \"\(scheme.instance.scheme.title)\""
        if !name.origins.isEmpty { words += " at \(name.origins.joined(separator: ", "))" }
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
        guard let storage = try await login.store().openIfExists(),
            let name = try await login.storedName(in: storage, forAnyParameters: true)
        else {
            return try output("there is no session to log out of; nevod-host sessions lists the stored ones")
        }
        let what = name.account.isEmpty ? "" : " \(TerminalText.safe(name.account))"
        do {
            let scheme = login.session(name, in: storage)
            try await Interruption.shared.cancelling(on: session.executor) { try await scheme.logout() }
        } catch {
            // A session that can't be read can't be ended at the server.
            if (error as? StorageError)?.code == .damaged { try await storage.set(nil as Secret?, for: name.key) }
            if try await storage.secret(for: name.key) == nil {
                console.warning("the session\(what) is cleared here, but the server may not know")
            }
            throw error
        }
        if !login.hasSent {
            console.warning(
                "the session\(what) is cleared here, but nothing was sent to the server, which may still accept it; "
                    + "the scheme may have a setting for the logout address: nevod-host inspect \(arguments.value(.plugin) ?? "")"
            )
        }
        try output("logged out\(what)")
    }
}

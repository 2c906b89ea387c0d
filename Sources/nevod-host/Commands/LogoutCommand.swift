import NevodHost
import NevodSupport

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
        // The account may have several sessions, one for each set of origins. Logging out of a session ends it for all
        // parameters.
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

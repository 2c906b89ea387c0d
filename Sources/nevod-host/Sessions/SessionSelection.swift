import NevodHost
import NevodSupport

/// Which stored session the arguments select, and which sessions a login replaces.
extension SchemeLogin {
    /// Finds the stored session that the arguments select; nil if there is none.
    func storedName(in storage: any SealedStorage) async throws -> SessionName? {
        let found = try await storedNames(in: storage).filter { $0.parameters == scheme.keySuffix }
        // Two commands that logged in at the same time may have stored two sessions.
        return found.first { (try? CredentialScope(arguments).check($0)) != nil } ?? found.first
    }

    /// Finds the sessions of the account that the arguments select, for any set of parameters.
    func storedNames(in storage: any SealedStorage) async throws -> [SessionName] {
        let name = try name
        let names = try await storage.keys(withPrefix: name.prefix).compactMap(SessionName.init)
        let isForAny = arguments.command == .logout
        let accounts = Set(names.filter { isForAny || $0.parameters == scheme.keySuffix }.map(\.account)).sorted()
        if let account = arguments.value(.account) { return names.filter { $0.account == account } }
        guard accounts.count <= 1 else {
            let list = accounts.map { $0.isEmpty ? "\"\"" : $0 }.joined(separator: ", ")
            throw UsageError("there are sessions of several accounts: \(list); choose one with --account")
        }
        return names.filter { $0.account == accounts.first }
    }

    var name: SessionName {
        get throws {
            var name = SessionName(profile: arguments.profile?.name ?? "", scheme: scheme)
            name.parameters = scheme.keySuffix
            name.furtherOrigins = try CredentialScope(arguments).toStore(beyond: name.origins)
            return name
        }
    }

    func keep(_ token: PluginToken, _ name: SessionName, in storage: any SealedStorage) async throws {
        try await session(name, in: storage).tokenStorage(for: scheme.parameters).save(token)
        // A login replaces the account's session, whatever origins the session was for.
        for old in try await storage.keys(withPrefix: name.prefix).compactMap(SessionName.init)
        where old.account == name.account && old.parameters == name.parameters && old != name {
            try await storage.set(nil as Secret?, for: old.key)
        }
    }
}

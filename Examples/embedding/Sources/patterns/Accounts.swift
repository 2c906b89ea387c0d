import NevodSessions

struct Member: Codable, Hashable, Sendable {
    var name: String
}

/// One client for each account, over one transport.
func makeClients(
    of accounts: UserAccounts<Member>, url: String, session: any HTTPTransport
) -> AccountClients<Member, AuthenticatingHTTPClient> {
    accounts.clients { storage in
        AuthenticatingHTTPClient(
            baseURL: url, tokenProvider: DefaultTokenProvider(tokenStorage: storage, baseURL: url, session: session),
            session: session)
    }
}

/// The names of the accounts, for a menu that lets the user choose one.
func names(in accounts: UserAccounts<Member>) async throws -> [String] {
    var names: [String] = []
    for account in try await accounts.list().accounts {
        // An account whose session has ended has no user.
        names.append(await accounts.storage(of: account).loadUser()?.name ?? "\(account.id) (logged out)")
    }
    return names
}

public import NevodHost
internal import NevodStorage
internal import NevodSupport

/// One client for each account of a ``UserAccounts``, with only that account's tokens.
///
/// ```swift
/// let clients = accounts.clients { storage in
///     AuthenticatingHTTPClient(
///         baseURL: url, tokenProvider: DefaultTokenProvider(tokenStorage: storage, baseURL: url), session: session)
/// }
/// let profile = try await clients.send(Endpoint<Profile>.get("/me", auth: .bearerToken))
/// ```
///
/// A request, with its renewals, retries and redirects, belongs to the account that is current when it begins. If the clients are
/// `HTTPClient`s, this object is one too. Give all of them one transport, so that they share its connections.
public final class AccountClients<User: Codable & Sendable, Client: Sendable>: Sendable {
    /// The accounts.
    public let accounts: UserAccounts<User>
    private let make: @Sendable (SessionStorage<User>) throws -> Client
    private let made = Locked<[UserAccount: Client]>([:])

    init(_ accounts: UserAccounts<User>, _ make: @escaping @Sendable (SessionStorage<User>) throws -> Client) {
        self.accounts = accounts
        self.make = make
    }

    /// The current account and its client.
    ///
    /// - Throws: ``AccountError`` of code `noCurrent`; errors of the storage and of the closure that makes clients.
    public func current() async throws -> (account: UserAccount, client: Client) {
        let list = try await accounts.list()
        guard let account = list.current else { throw AccountError(.noCurrent) }
        return (account, try client(of: account, in: list))
    }

    /// The client of the account with this identifier.
    ///
    /// - Throws: ``AccountError`` of code `unknown`; errors of the storage and of the closure that makes clients.
    public func client(of id: String) async throws -> Client {
        let list = try await accounts.list()
        guard let account = list[id] else { throw AccountError(.unknown) }
        return try client(of: account, in: list)
    }

    private func client(of account: UserAccount, in list: UserAccountList) throws -> Client {
        if let client = made.withLock({ $0[account] }) { return client }
        // Called outside the lock, since it is the app's code. A second client of an account does no harm: both share its tokens.
        let client = try make(accounts.storage(of: account))
        return made.withLock { made in
            if let known = made[account] { return known }
            let listed = Set(list.accounts)
            made = made.filter { listed.contains($0.key) }
            made[account] = client
            return client
        }
    }
}

extension AccountClients: HTTPClient, APIClienting where Client: HTTPClient {
    public func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>) async throws -> T {
        try await current().client.send(endpoint)
    }

    public func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>, uploadProgress: ProgressHandler?) async throws -> T {
        try await current().client.send(endpoint, uploadProgress: uploadProgress)
    }

    public func response<T: Decodable & Sendable>(for endpoint: Endpoint<T>) async throws -> HTTPResponse {
        try await current().client.response(for: endpoint)
    }
}

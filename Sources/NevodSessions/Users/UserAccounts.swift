public import Foundation
public import NevodHost
internal import NevodStorage

/// Several accounts side by side in one storage, of which one is the current one. Each has a ``SessionStorage`` of its own.
///
/// ```swift
/// let accounts = UserAccounts<User>(storage: storage)
/// try await accounts.signIn("ada", tokens: tokens, user: ada)
/// let session = try await accounts.storage(of: "ada").load()
/// ```
///
/// - The list is one value, changed by compare-and-swap. Each session has a random key, so that the keys of a storage don't reveal the
///   identifiers of accounts, even where keys are not sealed.
/// - After a crash at any instant, each account in the list has its session or none, and no session stays that isn't in the list.
/// - A renewal that ends after its account was removed is dropped. So is a login that saves its session then (``AccountError``).
/// - Several processes may share the storage, if it has a renewal lock, as those of this library have. Without one, one process
///   at a time may add and remove accounts.
public final class UserAccounts<User: Codable & Sendable>: Sendable {
    /// The greatest number of accounts.
    public static var limit: Int { AccountIndex.limit }

    private let sessions: AccountSessions
    private let encoder: JSONEncoder
    private let decoder: JSONDecoder
    private let onError: @Sendable (any Error) -> Void

    /// Stores the accounts where ``SessionStorage/init()`` stores a session.
    public convenience init() {
        #if canImport(Security)
            self.init(storage: KeychainStorage())
        #else
            self.init(storage: UserDataStorage.shared)
        #endif
    }

    /// - Parameters:
    ///   - storage: stores the list and the sessions.
    ///   - key: the key of the list, and what the keys of sessions begin with.
    ///   - encoder: encodes the users.
    ///   - decoder: decodes the users.
    ///   - onError: see ``SessionStorage``.
    public init(
        storage: some KeyValueStorage, key: StorageKey = .accounts, encoder: JSONEncoder = CodingDefaults.encoder,
        decoder: JSONDecoder = CodingDefaults.decoder, onError: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        sessions = AccountSessions.shared(AnyKeyValueStorage(storage), key)
        self.encoder = encoder
        self.decoder = decoder
        self.onError = onError
    }

    // MARK: The list

    /// The accounts and the current one, as they are stored now.
    public func list() async throws -> UserAccountList {
        await sessions.sweepOnce()
        return try await sessions.index().list
    }

    /// The current account; nil if there is none.
    public func current() async throws -> UserAccount? {
        try await list().current
    }

    /// The list now, and after each change from now on. Includes changes by other processes if the storage reports them
    /// (`ObservableStorage`). A slow reader gets only the latest.
    public var changes: AsyncStream<UserAccountList> { sessions.lists() }

    // MARK: Changes

    /// Begins a session of an account, which is added if it isn't listed.
    ///
    /// - Parameters:
    ///   - id: the account's identifier, such as the claim `sub` of its token: 1 to 512 bytes of UTF-8, compared exactly.
    ///   - tokens: the tokens of the session.
    ///   - user: the user; nil to save it later with ``SessionStorage/saveUser(_:of:)``.
    ///   - isCurrent: whether the account becomes the current one.
    /// - Throws: ``AccountError`` of code `tooMany` or `identifier`; errors of the storage and of the encoder. The list and the
    ///   sessions are then as before.
    @discardableResult
    public func signIn(
        _ id: String, tokens: AuthTokens, user: User? = nil, isCurrent: Bool = true
    ) async throws -> UserAccount {
        try AccountIndex.check(id)
        for _ in 0..<100 {
            guard let account = try await list()[id] else {
                let record = SessionRecord(.random(), Data(try tokens.encode()), user: try user.map { try encoder.encode($0) })
                if let account = try await sessions.add(id, record, isCurrent: isCurrent) { return account }
                continue
            }
            do {
                let storage = storage(of: account)
                if let user { try await storage.save(tokens, user: user) } else { try await storage.saveTokens(tokens) }
                let isListed = try await sessions.change { index in
                    isCurrent ? index.makeCurrent(account) : index.lists(account.slot)
                }
                if isListed { return account }
            } catch let error as AccountError where error.code == .removed {}
            // Removed meanwhile, and its session with it: this one is a new account's.
        }
        throw StorageError(
            .busy, "\(sessions.key)", problem: "the account is added and removed all the time by others", remedy: "try again")
    }

    /// Makes an account the current one. Requests under way go on as the account that they began with.
    ///
    /// - Throws: ``AccountError`` of code `unknown`; the storage's errors.
    @discardableResult
    public func `switch`(to id: String) async throws -> UserAccount {
        try await sessions.change { index in
            guard let account = index.list[id], index.makeCurrent(account) else { throw AccountError(.unknown) }
            return account
        }
    }

    /// Removes an account and its session. Its requests that are under way fail, or end as the account's; none gets another account's
    /// token. If it was the current one, none is.
    ///
    /// - Returns: whether there was such an account.
    /// - Throws: the storage's errors. An account that is no longer in the list, but whose session could not be removed, is removed
    ///   completely by a later call, or by the next process.
    @discardableResult
    public func remove(_ id: String) async throws -> Bool {
        try await !sessions.remove { list in list[id].map { [$0] } ?? [] }.isEmpty
    }

    /// Removes all accounts and their sessions.
    public func removeAll() async throws {
        _ = try await sessions.remove(\.accounts)
    }

    // MARK: Sessions

    /// The session of an account: for its client, and for its state. It stays that account's, whichever is the current one, and once
    /// the account is removed it has no session and takes none, even if an account with the same identifier is added.
    public func storage(of account: UserAccount) -> SessionStorage<User> {
        SessionStorage(storage: sessions, key: account.slot, encoder: encoder, decoder: decoder, onError: onError)
    }

    /// The session of the account with this identifier.
    ///
    /// - Throws: ``AccountError`` of code `unknown`; the storage's errors.
    public func storage(of id: String) async throws -> SessionStorage<User> {
        guard let account = try await list()[id] else { throw AccountError(.unknown) }
        return storage(of: account)
    }

    /// One client for each account.
    ///
    /// - Parameter make: returns a new client with the tokens in a storage; called once for each account, as a rule.
    public func clients<Client: Sendable>(
        _ make: @escaping @Sendable (SessionStorage<User>) throws -> Client
    ) -> AccountClients<User, Client> {
        AccountClients(self, make)
    }
}

extension StorageKey {
    /// The default key of a list of accounts.
    public static let accounts: StorageKey = "nevod.accounts"
}

public import Foundation
public import NevodHost
internal import NevodStorage

/// Several accounts side by side in one storage. One of them is current. Each has its own ``SessionStorage``.
///
/// ```swift
/// let accounts = UserAccounts<User>(storage: storage)
/// try await accounts.signIn("ada", tokens: tokens, user: ada)
/// let session = try await accounts.storage(of: "ada").load()
/// ```
///
/// - The list is one value, changed by compare-and-swap. Each session has a random key, so that a storage's keys don't reveal the
///   identifiers of accounts, even where keys are not sealed.
/// - After a crash at any instant, each account in the list has its session or none, and sessions that aren't in the list are
///   removed.
/// - A renewal that ends after its account was removed is dropped. A login that saves its session then fails (``AccountError``).
/// - Several processes may share the storage, if it has a renewal lock, as the stores of this library have. Without one,
///   processes must take turns at adding and removing accounts.
public final class UserAccounts<User: Codable & Sendable>: Sendable {
    /// The greatest number of accounts.
    public static var limit: Int { AccountIndex.limit }

    private let sessions: AccountSessions
    private let encoder: JSONEncoder
    private let decoder: JSONDecoder
    private let onError: @Sendable (any Error) -> Void

    /// Stores the accounts where ``SessionStorage/init()`` stores a session.
    public convenience init() {
        self.init(storage: defaultSessionStorage)
    }

    /// - Parameters:
    ///   - storage: stores the list and the sessions.
    ///   - key: the list's key, and the prefix of the sessions' keys.
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

    /// Begins a session of an account, and adds the account if it isn't listed.
    ///
    /// - Parameters:
    ///   - id: the account's identifier, such as the claim `sub` of its token: 1 to 512 bytes of UTF-8, compared exactly.
    ///   - tokens: the tokens of the session.
    ///   - user: the user; nil to save it later with ``SessionStorage/saveUser(_:of:)``.
    ///   - isCurrent: whether the account becomes the current one.
    /// - Throws: ``AccountError`` of code `tooMany` or `identifier`; errors of the storage and of the encoder. The list and the
    ///   sessions are then unchanged.
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
            // The account and its session were removed meanwhile: this sign-in adds a new account.
        }
        throw StorageError(
            .busy, "\(sessions.key)", problem: "the account keeps being added and removed by other programs", remedy: "try again")
    }

    /// Makes an account the current one. Requests under way continue as the account that they began with.
    ///
    /// - Throws: ``AccountError`` of code `unknown`; the storage's errors.
    @discardableResult
    public func `switch`(to id: String) async throws -> UserAccount {
        try await sessions.change { index in
            guard let account = index.list[id], index.makeCurrent(account) else { throw AccountError(.unknown) }
            return account
        }
    }

    /// Removes an account and its session. Its requests under way fail, or finish with its own token; none gets another account's
    /// token. If it was the current account, no account is current afterward.
    ///
    /// - Returns: whether there was such an account.
    /// - Throws: the storage's errors. If the account is no longer listed but its session could not be removed, a later call or
    ///   the next process removes it.
    @discardableResult
    public func remove(_ id: String) async throws -> Bool {
        try await !sessions.remove { list in list[id].map { [$0] } ?? [] }.isEmpty
    }

    /// Removes all accounts and their sessions.
    public func removeAll() async throws {
        _ = try await sessions.remove(\.accounts)
    }

    // MARK: Sessions

    /// The session of an account, for its client and its state. It always belongs to this account, whichever account is current.
    /// Once the account is removed, it has no session and takes none, even if an account with the same identifier is added.
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
    /// - Parameter make: returns a new client with the tokens in a storage; usually called once for each account.
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

/// One of several accounts in a ``UserAccounts``.
///
/// An account that was removed and added again is another one: they are not equal, and don't share tokens.
public struct UserAccount: Sendable, Hashable, Identifiable {
    /// The account's identifier as the app has given it, such as the claim `sub` of its token.
    public let id: String
    /// Random, so that the keys in a storage don't reveal the accounts.
    let slot: StorageKey
}

extension UserAccount {
    /// Compares the slots, which are unique. Identifiers may be equal strings with different UTF-8.
    public static func == (left: UserAccount, right: UserAccount) -> Bool {
        left.slot == right.slot
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(slot)
    }
}

/// The accounts of a ``UserAccounts`` at one instant.
public struct UserAccountList: Sendable, Hashable {
    /// All accounts, in the order in which they were added. After its session has ended, an account stays in the list until it is
    /// removed.
    public let accounts: [UserAccount]
    /// The current account; nil if none was chosen, or if it was removed.
    public let current: UserAccount?

    /// The account with this identifier; nil if there is none. Identifiers are equal if their UTF-8 is equal.
    public subscript(_ id: String) -> UserAccount? {
        accounts.first { $0.id.utf8.elementsEqual(id.utf8) }
    }
}

/// Why an operation of a ``UserAccounts`` failed. Never contains an account's identifier, which may be personal data.
public struct AccountError: Error, Sendable, Hashable {
    /// The kind of failure.
    public enum Code: Sendable, Hashable {
        /// No account has this identifier.
        case unknown
        /// No account is the current one.
        case noCurrent
        /// The account was removed, so no session can be saved for it.
        case removed
        /// The limit on accounts is reached.
        case tooMany
        /// The identifier is empty or too long.
        case identifier
    }

    /// The kind of failure, for a program to act on.
    public let code: Code

    init(_ code: Code) {
        self.code = code
    }
}

extension AccountError: CustomStringConvertible {
    public var description: String {
        switch code {
        case .unknown: "no account has this identifier; sign it in first"
        case .noCurrent: "no account is the current one; sign one in, or switch to one"
        case .removed: "the account was removed; sign it in again, and use the storage and the client of the new account"
        case .tooMany: "there are \(AccountIndex.limit) accounts already; remove one first"
        case .identifier:
            "an account's identifier must have 1 to \(AccountIndex.longestIdentifier) bytes of UTF-8"
        }
    }
}

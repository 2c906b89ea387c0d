public import Foundation
public import NevodHost

/// Stores the session of an app's user: the tokens and the user, as one value in a `KeyValueStorage`. An app names it once:
///
/// ```swift
/// typealias TokenStorage = SessionStorage<User>
///
/// let storage = TokenStorage()
/// try await storage.saveTokens(tokens)
/// try await storage.saveUser(user)
/// ```
///
/// Each change is one write: after a crash, and in other processes that use the same storage, tokens and user are always of the
/// same session. Saving tokens begins a new session; a renewal of tokens stays in it. A renewal that the server refuses removes
/// both. The storage seals what it stores, if it is one that does: ``UserDataStorage``, the keychain, or a `SealingStorage`.
public final class SessionStorage<User: Codable & Sendable>: Sendable {
    /// The tokens, for a ``TokenProvider``.
    public let tokens: SessionTokens
    private let encoder: JSONEncoder
    private let decoder: JSONDecoder
    private let onError: @Sendable (any Error) -> Void

    /// Stores the session where this platform keeps such data: in the keychain on Apple's systems, otherwise in a
    /// ``UserDataStorage``.
    public convenience init() {
        #if canImport(Security)
            self.init(storage: KeychainStorage())
        #else
            self.init(storage: UserDataStorage.shared)
        #endif
    }

    /// - Parameters:
    ///   - storage: stores the session.
    ///   - key: the key of its value. Several accounts in one storage need several keys.
    ///   - encoder: encodes the user.
    ///   - decoder: decodes the user.
    ///   - onError: receives the errors of ``loadTokens()`` and ``loadUser()``, which return nil then.
    public init(
        storage: some KeyValueStorage, key: StorageKey = .session, encoder: JSONEncoder = CodingDefaults.encoder,
        decoder: JSONDecoder = CodingDefaults.decoder, onError: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        tokens = SessionTokens(storage: storage, key: key)
        self.encoder = encoder
        self.decoder = decoder
        self.onError = onError
    }

    // MARK: Saving

    /// Begins a new session with these tokens, without a user. If the same tokens are stored already, nothing changes.
    ///
    /// - Returns: the session, for ``saveUser(_:of:)``.
    @discardableResult
    public func saveTokens(_ tokens: AuthTokens) async throws -> SessionIdentifier {
        try await save(tokens, encodedUser: nil)
    }

    /// Begins a new session with its tokens and its user, in one write. If the same tokens are stored already, their session gets
    /// the user.
    @discardableResult
    public func save(_ tokens: AuthTokens, user: User) async throws -> SessionIdentifier {
        try await save(tokens, encodedUser: encoder.encode(user))
    }

    private func save(_ tokens: AuthTokens, encodedUser: Data?) async throws -> SessionIdentifier {
        let session = try await self.tokens.values.save(Data(try tokens.encode()), user: encodedUser)
        // Informs the observers of the tokens, which the storage itself may not do.
        _ = try await self.tokens.storage.load()
        return session
    }

    /// Saves the user of the stored session.
    ///
    /// - Parameters:
    ///   - user: the user.
    ///   - session: the session that the user belongs to. Give it if anything was awaited since it was known, such as the request
    ///     for the user: another user may have logged in meanwhile.
    /// - Throws: ``NoSessionError`` if no session is stored, or another one; the storage's errors.
    public func saveUser(_ user: User, of session: SessionIdentifier? = nil) async throws {
        guard try await tokens.values.save(user: encoder.encode(user), of: session) else { throw NoSessionError() }
    }

    // MARK: Loading

    /// Reads the session; nil if none is stored.
    ///
    /// - Throws: the storage's errors. A user that can't be decoded, as one of an earlier version of the app, is nil and no error.
    public func load() async throws -> StoredSession<User>? {
        // Saves renewed tokens that could not be saved when they were received.
        guard try await tokens.storage.load() != nil, let record = try await tokens.values.record() else { return nil }
        return StoredSession(
            session: record.identifier, tokens: try AuthTokens.decode(from: Array(record.tokens)), user: user(in: record))
    }

    /// The stored tokens; nil if there are none, or if they can't be read (see the initializer's `onError`).
    public func loadTokens() async -> AuthTokens? {
        do { return try await tokens.storage.load() } catch {
            onError(error)
            return nil
        }
    }

    /// The stored user; nil if there is none, or if it can't be read (see the initializer's `onError`).
    public func loadUser() async -> User? {
        do { return try await tokens.values.record().flatMap { user(in: $0) } } catch {
            onError(error)
            return nil
        }
    }

    private func user(in record: SessionRecord) -> User? {
        guard let data = record.user else { return nil }
        do { return try decoder.decode(User.self, from: data) } catch {
            onError(error)
            return nil
        }
    }

    /// Whether the stored access token has expired or is about to: see `TokenStorage.isDueForRenewal()`.
    public func isDueForRenewal() async throws -> Bool {
        try await tokens.storage.isDueForRenewal()
    }

    // MARK: Clearing

    /// Removes the tokens and the user, as after a logout. A renewal under way doesn't restore them.
    public func clearAll() async throws {
        try await tokens.storage.clear()
    }

    /// Removes a session, if it is the stored one: another user's session stays.
    ///
    /// - Returns: whether it was the stored one.
    @discardableResult
    public func clear(_ session: SessionIdentifier) async throws -> Bool {
        let isCleared = try await tokens.values.clear { $0.identifier == session }
        if isCleared { _ = try await tokens.storage.load() }
        return isCleared
    }

    /// The same for the session with these tokens.
    func clear(_ tokens: AuthTokens) async throws {
        let encoded = Data(try tokens.encode())
        if try await self.tokens.values.clear(if: { $0.tokens == encoded }) { _ = try await self.tokens.storage.load() }
    }

    /// The stored session; nil if none is stored. A value that is no session is removed.
    func storedSession() async throws -> SessionIdentifier? {
        do {
            return try await tokens.values.record()?.identifier
        } catch let error as StorageError where error.code == .damaged {
            try await clearAll()
            return nil
        }
    }
}

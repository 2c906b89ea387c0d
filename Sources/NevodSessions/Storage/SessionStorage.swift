public import Foundation
public import NevodHost

/// Stores a user's session, tokens and user together, as one value in a `KeyValueStorage`. An app names the type once:
///
/// ```swift
/// typealias TokenStorage = SessionStorage<User>
///
/// let storage = TokenStorage()
/// try await storage.saveTokens(tokens)
/// try await storage.saveUser(user)
/// ```
///
/// Each change is one write, so tokens and user always belong to the same session, even after a crash and in other processes that
/// share the storage. Saving tokens begins a new session; renewing them doesn't. If the server refuses a renewal, both are
/// removed. The session is sealed only if the storage seals its values, as ``UserDataStorage``, the keychain and `SealingStorage`
/// do.
public final class SessionStorage<User: Codable & Sendable>: Sendable {
    /// The tokens, for a ``TokenProvider``.
    public let tokens: SessionTokens
    private let encoder: JSONEncoder
    private let decoder: JSONDecoder
    private let onError: @Sendable (any Error) -> Void

    /// Stores the session in the platform's usual place: the keychain on Apple's systems, otherwise a ``UserDataStorage``.
    public convenience init() {
        self.init(storage: defaultSessionStorage)
    }

    /// - Parameters:
    ///   - storage: stores the session.
    ///   - key: the session's key. Each account in a storage needs its own.
    ///   - encoder: encodes the user.
    ///   - decoder: decodes the user.
    ///   - onError: receives the errors of ``loadTokens()`` and ``loadUser()``, which then return nil.
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
        // Notifies the tokens' observers, since the storage itself may not report changes.
        _ = try await self.tokens.storage.load()
        return session
    }

    /// Saves the user of the stored session.
    ///
    /// - Parameters:
    ///   - user: the user.
    ///   - session: the user's session; nil for the stored one. Pass it if anything was awaited after the session was known, such
    ///     as the request for the user: another user may have logged in meanwhile.
    /// - Throws: ``NoSessionError`` if no session is stored, or another one; the storage's errors.
    public func saveUser(_ user: User, of session: SessionIdentifier? = nil) async throws {
        guard try await tokens.values.save(user: encoder.encode(user), of: session) else { throw NoSessionError() }
    }

    // MARK: Loading

    /// Reads the session; nil if none is stored.
    ///
    /// - Throws: the storage's errors. A user that can't be decoded, for example from an earlier version of the app, is nil and
    ///   not an error.
    public func load() async throws -> StoredSession<User>? {
        // `load()` comes first, because it saves renewed tokens that couldn't be saved when they arrived.
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

    /// Removes the session with these tokens, if it is the stored one.
    func clear(_ tokens: AuthTokens) async throws {
        let encoded = Data(try tokens.encode())
        if try await self.tokens.values.clear(if: { $0.tokens == encoded }) { _ = try await self.tokens.storage.load() }
    }

    /// The stored session; nil if none is stored. A value that isn't a session is removed.
    func storedSession() async throws -> SessionIdentifier? {
        do {
            return try await tokens.values.record()?.identifier
        } catch let error as StorageError where error.code == .damaged {
            try await clearAll()
            return nil
        }
    }
}

/// A stored session: the tokens and the user of one login, read together.
public struct StoredSession<User: Sendable>: Sendable {
    /// Identifies the session from its login to its end.
    public let session: SessionIdentifier
    /// The tokens.
    public let tokens: AuthTokens
    /// The user; nil if none was saved since the login.
    public let user: User?
}

/// Identifies a user's session from its login to its end, across all renewals of its tokens. Random, but not secret.
public struct SessionIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The text that is stored with the session.
    public let description: String

    init(_ description: String) {
        self.description = description
    }

    static func random() -> SessionIdentifier {
        SessionIdentifier(UUID().uuidString)
    }
}

/// The user wasn't saved, because its session isn't stored: it was cleared, refused by the server, or replaced by another one.
public struct NoSessionError: Error, Sendable, Hashable, CustomStringConvertible {
    public var description: String {
        "the user was not saved, because its session is no longer stored; save its tokens first, or log in again"
    }
}

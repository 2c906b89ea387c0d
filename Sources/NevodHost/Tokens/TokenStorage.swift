internal import NevodSupport

/// Stores one token in a `KeyValueStorage`. (An ``AuthenticationInterceptor``, in contrast, puts it on requests and renews
/// it.)
///
/// ```swift
/// let storage = TokenStorage<Token>(storage: InMemoryStorage())
/// try await storage.save(Token(value: "secret"))
/// ```
///
/// Instances with the same storage object and key share their state and any renewal in progress.
public final class TokenStorage<Token: TokenModel>: Sendable {
    let coordinator: TokenCoordinator<Token>

    /// Creates a storage of one token.
    ///
    /// With a default key, or `StorageKey.token`, a token that Nevod stored under its own default key is found too, unless a
    /// newer one is stored. The next save stores the token in this library's format and removes Nevod's.
    ///
    /// - Parameters:
    ///   - storage: stores the token's bytes.
    ///   - key: must differ for each token of the same type in one store. By default `StorageKey.token` for a
    ///     ``NevodHost/Token``, and a key with the type's name for all other types.
    public init(storage: some KeyValueStorage, key: StorageKey? = nil) {
        let key = key ?? Self.defaultKey
        var storage = AnyKeyValueStorage(storage)
        if key == .token || key == Self.defaultKey { storage = storage.adoptingNevods(Token.self, as: key) }
        coordinator = TokenCoordinator.shared(storage, key)
    }

    init(sharing storage: AnyKeyValueStorage, key: StorageKey) {
        coordinator = TokenCoordinator.shared(storage, key)
    }

    /// The key differs by type, so that a program can keep tokens of several types in one store without naming keys.
    private static var defaultKey: StorageKey {
        Token.self == NevodHost.Token.self ? .token : StorageKey(value: "\(StorageKey.token).\(Token.self)")
    }

    /// The stored token; nil if none is stored.
    ///
    /// - Throws: the storage's errors, and the errors of the token's `decode` for bytes that are not such a token.
    public func load() async throws -> Token? {
        try await coordinator.read().token
    }

    /// Replaces the stored token, for example after a login. The token is written when the call returns.
    public func save(_ token: Token) async throws {
        try await coordinator.write(token)
    }

    /// Removes the stored token, for example after a logout. A renewal in progress doesn't restore it.
    public func clear() async throws {
        try await coordinator.write(nil)
    }

    /// The token and its version.
    public func current() async throws -> StoredToken<Token> {
        try await coordinator.read()
    }

    /// Saves a token, or clears it if nil, but only if `version` is still current, so that no other change is overwritten.
    ///
    /// - Returns: whether `version` was still current.
    @discardableResult
    public func save(_ token: Token?, replacing version: TokenVersion) async throws -> Bool {
        try await coordinator.replace(version, with: token, .program)
    }

    /// The token after each change from now on; nil when it was cleared. Includes changes by other processes if the storage
    /// reports them (`ObservableStorage`). A slow reader gets only the latest.
    public var changes: AsyncStream<Token?> {
        coordinator.changes()
    }

    /// The token's changes from now on, with their reasons, in the order in which they happen: a login, a renewal, the server's
    /// refusal, a logout. Includes changes by other processes if the storage reports them (`ObservableStorage`). A reader that
    /// falls behind gets the latest 256 events.
    public var events: AsyncStream<TokenEvent<Token>> {
        coordinator.events()
    }
}

extension TokenStorage {
    /// Whether the stored token has expired, or is so close to its expiry that the next request will renew it first. False if no
    /// token is stored, or if the token has no expiry.
    ///
    /// - Throws: the errors of ``TokenStorage/load()``.
    public func isDueForRenewal() async throws -> Bool {
        let stored = try await coordinator.read()
        return stored.token != nil && coordinator.isDue(stored.version)
    }
}

/// A snapshot of the token in a ``TokenStorage``.
public struct StoredToken<Token: TokenModel>: Sendable {
    /// Nil if none is stored.
    public let token: Token?
    /// Changes whenever the token changes.
    public let version: TokenVersion
}

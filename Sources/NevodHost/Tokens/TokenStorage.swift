internal import NevodSupport

/// Keeps one token of a type, wherever a ``KeyValueStorage`` keeps things. (An ``AuthenticationInterceptor``, in contrast,
/// decides when it goes on a request, and renews it.)
///
/// ```swift
/// let storage = TokenStorage<Token>(storage: InMemoryStorage())
/// try await storage.save(Token(value: "secret"))
/// ```
///
/// Several of them over the same storage object and key are one: they share what they know, and one renewal at a time.
public final class TokenStorage<Token: TokenModel>: Sendable {
    let coordinator: TokenCoordinator<Token>

    /// - Parameters:
    ///   - storage: what keeps the token's bytes.
    ///   - key: another one for each token of the same type in the same store. By default ``StorageKey/token`` for a ``NevodHost/Token``,
    ///     and one with the type's name for every other.
    public init(storage: some KeyValueStorage, key: StorageKey? = nil) {
        coordinator = TokenCoordinator.shared(AnyKeyValueStorage(storage), key ?? Self.defaultKey)
    }

    /// Programs keep tokens of several types in one store, and name no keys.
    private static var defaultKey: StorageKey {
        Token.self == NevodHost.Token.self ? .token : StorageKey(value: "\(StorageKey.token).\(Token.self)")
    }

    /// Nil: none is stored.
    ///
    /// - Throws: what the storage throws, and what the token's `decode` does for bytes that are none.
    public func load() async throws -> Token? {
        try await coordinator.read().token
    }

    /// Replaces whatever is stored, as after a login. Once it returns, the token has been written.
    public func save(_ token: Token) async throws {
        try await coordinator.write(token)
    }

    /// As after a logout. A renewal that is under way doesn't bring a token back.
    public func clear() async throws {
        try await coordinator.write(nil)
    }

    /// The token and its version.
    public func current() async throws -> StoredToken<Token> {
        try await coordinator.read()
    }

    /// Saves, or with nil clears, if the stored token is still the one of `version`: nobody else's change is overwritten.
    ///
    /// - Returns: whether it was.
    @discardableResult
    public func save(_ token: Token?, replacing version: TokenVersion) async throws -> Bool {
        try await coordinator.replace(version, with: token)
    }

    /// The token, after each of its changes from now on; nil when it was cleared. Changes of other processes are among them
    /// where the storage tells of them (``ObservableStorage``). A reader that is slow gets the latest.
    public var changes: AsyncStream<Token?> {
        coordinator.changes()
    }
}

internal import Foundation
public import NevodHost
internal import NevodStorage

/// The tokens of a stored session, without its user: all that a client needs. (A ``SessionStorage``, in contrast, is for the app,
/// and includes the user.)
///
/// Instances with the same storage object and key share one state: a renewal serves all of them, and each of them reports every
/// end of a session.
public final class SessionTokens: Sendable {
    /// The tokens, renewed like the token of any other `TokenStorage`. Saving new ones here begins a new session, without a user.
    public let storage: TokenStorage<AuthTokens>
    let values: SessionValues
    private static let shared = SharedObjects<SessionValues>()

    /// - Parameters:
    ///   - storage: stores the session as one value.
    ///   - key: the key of that value.
    public convenience init(storage: some KeyValueStorage, key: StorageKey = .session) {
        self.init(AnyKeyValueStorage(storage), key)
    }

    init(_ storage: AnyKeyValueStorage, _ key: StorageKey) {
        values = Self.shared.object(storage, key) { SessionValues(storage, key) }
        self.storage = TokenStorage(storage: values, key: key)
    }

    /// The ends of sessions that this process sees from now on. If the storage reports changes (`ObservableStorage`), ends by
    /// other processes are reported at once; otherwise the next read finds them.
    public var ends: AsyncStream<SessionEnd> {
        let (stream, continuation) = AsyncStream.makeStream(of: SessionEnd.self)
        let registration = values.onEnd { continuation.yield($0) }
        continuation.onTermination = { _ in withExtendedLifetime(registration) {} }
        return stream
    }
}

extension SessionTokens {
    func beginLogin() async throws -> LoginTicket {
        try await values.beginLogin()
    }

    /// Saves the tokens of a login; see ``SessionValues/save(_:of:)``.
    func save(_ tokens: AuthTokens, of ticket: LoginTicket) async throws -> Bool {
        guard try await values.save(Data(try tokens.encode()), of: ticket) else { return false }
        // Notifies the tokens' observers, since the storage itself may not report changes.
        _ = try await storage.load()
        return true
    }
}

extension StorageKey {
    /// The default key of a session.
    public static let session: StorageKey = "nevod.session"
}

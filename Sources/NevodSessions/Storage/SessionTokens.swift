internal import Foundation
public import NevodHost
internal import NevodStorage
internal import NevodSupport

/// The tokens of the session in a storage, apart from its user: what a client needs to know. (A ``SessionStorage``, in contrast, is
/// for the app, and also has the user.)
///
/// Instances over the same storage object and key share their state, one renewal at a time, and each end of a session.
public final class SessionTokens: Sendable {
    /// The tokens, renewed as those of any other `TokenStorage`. Saving new ones here begins a new session, without a user.
    public let storage: TokenStorage<AuthTokens>
    let values: SessionValues

    /// - Parameters:
    ///   - storage: stores the session as one value.
    ///   - key: the key of that value.
    public convenience init(storage: some KeyValueStorage, key: StorageKey = .session) {
        self.init(AnyKeyValueStorage(storage), key)
    }

    init(_ storage: AnyKeyValueStorage, _ key: StorageKey) {
        values = SessionValues.shared(storage, key)
        self.storage = TokenStorage(storage: values, key: key)
    }

    /// Each end of a session that this process has seen, from now on. Includes those by other processes if the storage reports changes
    /// (`ObservableStorage`); otherwise they are found by the next read.
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
        // Informs the observers of the tokens, which the storage itself may not do.
        _ = try await storage.load()
        return true
    }
}

extension StorageKey {
    /// The default key of a session.
    public static let session: StorageKey = "nevod.session"
}

extension SessionValues {
    private struct Place: Hashable {
        let storage: ObjectIdentifier
        let key: StorageKey
    }

    private struct Reference {
        weak var values: SessionValues?
    }

    private static let all = Locked<[Place: Reference]>([:])

    fileprivate static func shared(_ storage: AnyKeyValueStorage, _ key: StorageKey) -> SessionValues {
        guard let identity = storage.identity else { return SessionValues(storage, key) }
        return all.withLock { all in
            // The values hold their storage, so an identifier is not used again while they live.
            let place = Place(storage: identity, key: key)
            if let known = all[place]?.values { return known }
            all = all.filter { $0.value.values != nil }
            let values = SessionValues(storage, key)
            all[place] = Reference(values: values)
            return values
        }
    }
}

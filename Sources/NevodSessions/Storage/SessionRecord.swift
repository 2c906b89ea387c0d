public import Foundation
public import NevodHost
internal import NevodStorage
internal import NevodSupport

/// A session as it is stored. Tokens and user are one value, so that neither a crash nor another process can mix two sessions.
struct SessionRecord: StoredRecord {
    static let content = "a session"
    static let remedy = "use another key, or clear it and log in again"

    let session: String
    /// Encoded ``AuthTokens``.
    var tokens: Data
    /// The encoded user; nil until the first one is saved.
    var user: Data?

    init(_ session: SessionIdentifier, _ tokens: Data, user: Data?) {
        self.session = session.description
        self.tokens = tokens
        self.user = user
    }

    var identifier: SessionIdentifier { SessionIdentifier(session) }
}

extension StoredValues {
    /// The session that a ``SessionStorage`` has stored; nil if there is none.
    ///
    /// - Parameters:
    ///   - type: the type of the user as it is stored.
    ///   - key: the storage's key.
    ///   - decoder: decodes the user.
    /// - Throws: `StorageError` if the value isn't a session; the decoder's errors.
    public func session<User: Decodable & Sendable>(
        of type: User.Type, for key: StorageKey = .session, decoder: JSONDecoder = CodingDefaults.decoder
    ) throws -> StoredSession<User>? {
        guard let secret = self[key] else { return nil }
        let record = try SessionRecord.decode(secret, of: key)
        return StoredSession(
            session: record.identifier, tokens: try AuthTokens.decode(from: Array(record.tokens)),
            user: try record.user.map { try decoder.decode(User.self, from: $0) })
    }

    /// Stores a session like a ``SessionStorage``. If a session is already stored, it continues with these tokens and this user.
    ///
    /// - Parameters:
    ///   - tokens: the session's tokens.
    ///   - user: the user; nil for none.
    ///   - key: the storage's key.
    ///   - encoder: encodes the user.
    public mutating func setSession(
        _ tokens: AuthTokens, user: (some Encodable)?, for key: StorageKey = .session,
        encoder: JSONEncoder = CodingDefaults.encoder
    ) throws {
        let old = try self[key].map { try SessionRecord.decode($0, of: key) }
        let record = SessionRecord(
            old?.identifier ?? .random(), Data(try tokens.encode()), user: try user.map { try encoder.encode($0) })
        self[key] = try record.encoded()
    }
}

extension StorageMigration {
    /// A step that turns two stored texts, an access token and a refresh token, into the session of a ``SessionStorage``. If one
    /// of them is missing, the other is removed and no session is stored. The step also works backward, but loses the user.
    ///
    /// - Parameters:
    ///   - from: the format before the step.
    ///   - to: the format after it.
    ///   - access: the key of the access token.
    ///   - refresh: the key of the refresh token.
    ///   - key: the storage's key.
    public static func session(
        from: Int, to: Int, access: StorageKey, refresh: StorageKey, key: StorageKey = .session
    ) -> StorageMigration {
        StorageMigration(
            from: from, to: to, keys: [access, refresh, key],
            forward: { values in
                if let accessToken = values.string(for: access), let refreshToken = values.string(for: refresh) {
                    try values.setSession(
                        AuthTokens(accessToken: accessToken, refreshToken: refreshToken), user: nil as Bool?, for: key)
                }
                values[access] = nil
                values[refresh] = nil
            },
            back: { values in
                guard let session = try values.session(of: AnyUser.self, for: key) else { return }
                values.set(session.tokens.accessToken, for: access)
                values.set(session.tokens.refreshToken, for: refresh)
                values[key] = nil
            })
    }
}

/// Decodes any user, and ignores it.
private struct AnyUser: Decodable {
    init(from decoder: any Decoder) {}
}

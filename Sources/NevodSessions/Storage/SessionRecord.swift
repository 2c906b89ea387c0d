internal import Foundation
internal import NevodHost
internal import NevodStorage
internal import NevodSupport

/// A session as it is stored: one value, so that no crash and no other process can leave the tokens of one session and the user of
/// another.
struct SessionRecord: Codable {
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

    static func decode(_ secret: Secret, of key: StorageKey) throws -> SessionRecord {
        do {
            return try secret.withUnsafeBytes { try JSONDecoder().decode(SessionRecord.self, from: Data($0)) }
        } catch {
            // Without the decoder's words, which may hold parts of the value.
            throw StorageError(
                .damaged, "\(key)", problem: "holds no session: it was changed, or stored by another program",
                remedy: "use another key, or clear it and log in again")
        }
    }

    func encoded() throws -> Secret {
        let encoder = JSONEncoder()
        // The same bytes each time, by which an equal session is recognized.
        encoder.outputFormatting = .sortedKeys
        return Secret(wipingCopy: try encoder.encode(self) as Data)
    }
}

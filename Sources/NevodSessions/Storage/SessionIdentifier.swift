internal import Foundation

/// Identifies one session of a user, from its login to its end, however often its tokens are renewed. Random, and no secret.
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

public import NevodHost

/// A login that has not begun a session, though its password was right.
public enum MFAError: Error, Sendable, Hashable {
    /// The code was wrong. The challenge can still be met with another code.
    ///
    /// - `attemptsLeft`: how many more codes the server takes; nil if it doesn't say.
    case wrongCode(attemptsLeft: Int?)
    /// The challenge has expired, or too many codes were wrong. The user must log in again.
    case expired
    /// The server asks for one more factor, which ``MFAAuthClient/completeMFAChallenge(sessionId:code:)`` takes as well.
    case furtherChallenge(challenge: MFAChallenge, sessionId: String)
    /// Another login has begun since, or has stored its session, or the user has logged out. That stays as it is.
    case superseded
}

extension MFAError: Redacted {
    public var description: String {
        switch self {
        case .wrongCode(let left):
            "the code of the second factor is wrong\(left.map { "; attempts left: \($0)" } ?? ""); ask for it again"
        case .expired: "the challenge of the second factor has expired; log in again"
        case .furtherChallenge(let challenge, _): "the server asks for one more factor (\(challenge))"
        case .superseded: "another login or a logout has superseded this login; its session was not stored"
        }
    }
}

public import NevodHost

/// The meaning of a login's failure for its second factor.
public enum MFAStatus: Sendable, Hashable {
    /// The password was right, and the server asks for a second factor, or for another one.
    ///
    /// - `sessionId`: the server's identifier of the login in progress.
    case required(challenge: MFAChallenge, sessionId: String)
    /// The code was wrong. The challenge can still be met.
    ///
    /// - `attemptsLeft`: how many more codes the server takes; nil if it doesn't say.
    case wrongCode(attemptsLeft: Int?)
    /// The challenge has expired, or too many codes were wrong. The user must log in again.
    case expired
}

extension MFAStatus: Redacted {
    /// The case, without the identifier of the login.
    public var description: String {
        switch self {
        case .required(let challenge, _): "required(\(challenge))"
        case .wrongCode: "wrongCode"
        case .expired: "expired"
        }
    }
}

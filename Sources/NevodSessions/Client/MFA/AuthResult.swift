public import NevodHost

/// The outcome of a login whose password was right.
public enum AuthResult: Sendable, Hashable {
    /// The user is logged in, and the session is stored.
    case success(AuthTokens)
    /// The server asks for a second factor: see ``MFAAuthClient/completeMFAChallenge(sessionId:code:)``. Nothing is stored.
    case mfaRequired(challenge: MFAChallenge, sessionId: String)
}

extension AuthResult: Redacted {
    /// The case, without tokens and without the identifier of the login.
    public var description: String {
        switch self {
        case .success: "success"
        case .mfaRequired(let challenge, _): "mfaRequired(\(challenge))"
        }
    }
}

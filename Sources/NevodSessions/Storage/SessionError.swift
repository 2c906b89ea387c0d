/// A request needs the token of a session, and there is none that it can carry. Nothing was sent.
public enum SessionError: Error, Sendable, Hashable {
    /// No session is stored.
    case missing
    /// The access token has expired, and the request was told not to renew it.
    case expired
}

extension SessionError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missing: "the request needs a session, and none is stored; log in first"
        case .expired:
            "the access token has expired; let the request renew it (refreshExpiredToken), or call refreshExpiredTokens()"
        }
    }
}

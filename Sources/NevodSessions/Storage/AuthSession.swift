public import Foundation
public import NevodHost

/// The state of a user's session: missing, expired, or valid.
public enum AuthSession: Sendable, Hashable {
    /// No tokens are stored. The user must log in.
    case missing
    /// The access token has expired; the refresh token may still renew it.
    case expired(AuthTokens)
    /// The access token has not expired, or its expiry isn't known.
    case valid(AuthTokens)

    /// - Parameters:
    ///   - tokens: nil for a missing session.
    ///   - date: the time to compare the expiry with.
    public init(_ tokens: AuthTokens?, at date: Date = Date()) {
        self = tokens.map { $0.isExpired(at: date) ? .expired($0) : .valid($0) } ?? .missing
    }

    /// The tokens, expired or not; nil if there are none.
    public var tokens: AuthTokens? {
        switch self {
        case .missing: nil
        case .expired(let tokens), .valid(let tokens): tokens
        }
    }

    /// Whether the access token can be used.
    public var isValid: Bool {
        if case .valid = self { true } else { false }
    }

    /// Whether the access token has expired.
    public var isExpired: Bool {
        if case .expired = self { true } else { false }
    }
}

extension AuthSession: Redacted {
    /// The case, without the tokens.
    public var description: String {
        switch self {
        case .missing: "missing"
        case .expired: "expired"
        case .valid: "valid"
        }
    }
}

/// A request needs a session's token, but no usable token is stored. Nothing was sent.
public enum SessionError: Error, Sendable, Hashable {
    /// No session is stored.
    case missing
    /// The access token has expired, and the caller asked not to renew it.
    case expired
}

extension SessionError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missing: "the request needs a session, but none is stored; log in first"
        case .expired:
            "the access token has expired; let the request renew it (refreshExpiredToken), or call refreshExpiredTokens()"
        }
    }
}

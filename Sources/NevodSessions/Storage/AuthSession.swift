public import Foundation
public import NevodHost

/// A user's session as an app tells cases apart: none, one whose access token has expired, and one that can be used.
public enum AuthSession: Sendable, Hashable {
    /// No tokens are stored. The user must log in.
    case missing
    /// The access token has expired; the refresh token may still renew it.
    case expired(AuthTokens)
    /// The access token has not expired, or its expiry isn't known.
    case valid(AuthTokens)

    /// - Parameters:
    ///   - tokens: nil for a session that is missing.
    ///   - date: the time at which a token counts as expired or not.
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

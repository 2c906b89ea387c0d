/// The server has said that a token can't be renewed, as by `invalid_grant` (RFC 6749 §5.2).
///
/// The host recognizes the responses of RFC 6749 by itself. A refresh strategy throws this error when its server says so in
/// another form. The stored token is then cleared; no other failure of a renewal clears it.
public struct RefreshRejectedError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server's words, or yours. Part of ``description``, so it must not contain a secret.
    public let reason: String

    /// - Parameter reason: for logs; must not contain a secret.
    public init(_ reason: String) {
        self.reason = reason
    }

    public var description: String { "the server refused to renew the token: \(reason)" }
}

/// The former name of ``RefreshRejectedError``.
@available(*, deprecated, renamed: "RefreshRejectedError")
public typealias TokenRefused = RefreshRejectedError

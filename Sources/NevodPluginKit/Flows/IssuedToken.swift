public import NevodSupport

/// A token that a flow has obtained. The host stores the bytes and never interprets them; ``SchemeToken`` decodes them.
public struct IssuedToken: Sendable {
    /// The token's bytes: 1 byte to 64 KiB. Without bytes there is no token.
    public var bytes: Secret
    /// The expiry in seconds since 1970 UTC; nil if unknown.
    public var expiresAt: Int64?
    /// The account that the token belongs to, for people to tell sessions apart. Empty if unknown, or if it is that of the token that is
    /// replaced. At most 256 bytes, without control characters.
    public var account: String

    /// Creates a token.
    ///
    /// - Parameters:
    ///   - bytes: 1 byte to 64 KiB.
    ///   - expiresAt: the expiry in seconds since 1970 UTC.
    ///   - account: as ``account``.
    public init(_ bytes: Secret, expiresAt: Int64? = nil, account: String = "") {
        self.bytes = bytes
        self.expiresAt = expiresAt
        self.account = account
    }
}

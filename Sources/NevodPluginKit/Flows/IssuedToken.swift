public import NevodSupport

/// What a flow has obtained. The host stores the bytes and never looks into them; ``SchemeToken`` reads them again.
public struct IssuedToken: Sendable {
    /// At most 64 KiB, and not none: a token of no bytes is taken for no token.
    public var bytes: Secret
    /// When to renew it, in seconds since 1970 UTC; nil: nobody knows.
    public var expiresAt: Int64?
    /// Whom it belongs to, for people to tell sessions apart. Empty: nobody knows, or as with the token that it replaces. At most
    /// 256 bytes, without control characters.
    public var account: String

    /// - Parameters:
    ///   - bytes: 1 byte to 64 KiB.
    ///   - expiresAt: seconds since 1970 UTC.
    ///   - account: as ``account``.
    public init(_ bytes: Secret, expiresAt: Int64? = nil, account: String = "") {
        self.bytes = bytes
        self.expiresAt = expiresAt
        self.account = account
    }
}

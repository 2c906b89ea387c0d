internal import NevodPluginABI
public import NevodSupport

/// A token that a flow has obtained. The host stores the bytes and never interprets them; ``SchemeToken`` decodes them.
public struct IssuedToken: Sendable {
    /// The token's bytes: 1 byte to 64 KiB. Empty bytes mean that there is no token.
    public var bytes: Secret
    /// The expiry in seconds since 1970 UTC; nil if unknown.
    public var expiresAt: Int64?
    /// The account that the token belongs to, so that people can tell sessions apart. Empty if unknown, or if it is the same as the
    /// replaced token's. At most 256 bytes, without control characters.
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

/// A token as a scheme uses it: immutable, decoded from the stored bytes once, used by many requests concurrently.
public protocol SchemeToken: Sendable {
    /// Decodes the stored bytes.
    ///
    /// - Throws: ``SchemeError/badToken(_:)`` for bytes that it can't read, such as bytes from an older version of the plugin.
    init(decoding bytes: Span<UInt8>) throws(SchemeError)
}

extension Secret: SchemeToken {
    public convenience init(decoding bytes: Span<UInt8>) throws(SchemeError) {
        self.init(bytes)
    }
}

extension IssuedToken {
    init(_ table: UnsafePointer<nevod_token>) {
        let nanoseconds = table.pointee.expires_at_unix_ns
        self.init(
            Secret(copying: table.pointee.bytes.buffer), expiresAt: nanoseconds == 0 ? nil : nanoseconds / 1_000_000_000,
            account: table.pointee.account.string)
    }

    func withTable<Result>(_ body: (UnsafePointer<nevod_token>) -> Result) -> Result {
        bytes.withUnsafeBytes { bytes in
            withBytes(account) { account in
                // 0 means an unknown expiry, so the earliest expiry is 1.
                let expiry = expiresAt.map { max(1, $0.multiplied(by: 1_000_000_000)) }
                var table = nevod_token(
                    struct_size: UInt32(MemoryLayout<nevod_token>.size), reserved: 0, bytes: nevod_bytes(bytes),
                    expires_at_unix_ns: expiry ?? 0, account: account)
                return body(&table)
            }
        }
    }
}

extension Int64 {
    /// The product, clamped to what fits.
    fileprivate func multiplied(by factor: Int64) -> Int64 {
        let (product, isTooLarge) = multipliedReportingOverflow(by: factor)
        return isTooLarge ? (self < 0 ? .min : .max) : product
    }
}

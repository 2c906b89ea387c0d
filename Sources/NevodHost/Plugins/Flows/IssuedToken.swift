internal import NevodPluginABI
internal import NevodSupport

/// A token as a flow issues it. Its bytes are opaque to the host.
struct IssuedToken: Sendable, Hashable {
    static let largest = Int(NEVOD_LIMIT_TOKEN)

    let bytes: Secret
    let expiresAt: UnixTime?
    /// The account that the token belongs to; people tell sessions apart by it. May be empty.
    let account: String

    /// Returns this token with the old one's account, unless it names its own.
    func replacing(_ old: IssuedToken?) -> IssuedToken {
        guard account.isEmpty, let old else { return self }
        return IssuedToken(bytes: bytes, expiresAt: expiresAt, account: old.account)
    }

    static func == (left: IssuedToken, right: IssuedToken) -> Bool {
        left.bytes == right.bytes && left.expiresAt == right.expiresAt && left.account == right.account
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(expiresAt)
        hasher.combine(account)
    }
}

extension IssuedToken {
    /// Returns this token with its expiry moved from one clock to another.
    ///
    /// A scheme computes an expiry from the time that it was given, or takes it from a server. Either way, the expiry is by the
    /// server's clock, but the host compares it with its own.
    ///
    /// - Parameter correction: how far the new clock is ahead of the old one, in nanoseconds.
    func moved(by correction: Int64) -> IssuedToken {
        guard correction != 0, let expiresAt else { return self }
        return IssuedToken(bytes: bytes, expiresAt: expiresAt + .nanoseconds(correction), account: account)
    }
}

extension IssuedToken {
    func table(_ lent: BorrowedBytes) -> nevod_token {
        var table = nevod_token()
        table.struct_size = UInt32(MemoryLayout<nevod_token>.size)
        table.bytes = lent.lend(bytes)
        table.expires_at_unix_ns = expiresAt?.nanoseconds ?? 0
        table.account = lent.lend(account)
        return table
    }
}

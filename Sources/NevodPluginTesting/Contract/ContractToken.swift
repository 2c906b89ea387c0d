internal import NevodPluginABI

/// A `nevod_token`: as a flow issues it, and as a host passes it on.
package struct ContractToken: Sendable, Equatable {
    package var bytes: [UInt8]
    /// Nanoseconds since 1970; 0 if unknown.
    package var expiresAt: Int64
    package var account: [UInt8]
    package var reserved: UInt32 = 0

    package init(_ bytes: [UInt8], expiresAt: Int64 = 0, account: [UInt8] = []) {
        self.bytes = bytes
        self.expiresAt = expiresAt
        self.account = account
    }

    func table(_ arena: InputArena) -> UnsafePointer<nevod_token> {
        arena.table(
            nevod_token(
                struct_size: 0, reserved: reserved, bytes: arena.bytes(bytes), expires_at_unix_ns: expiresAt,
                account: arena.bytes(account)), .token)
    }
}

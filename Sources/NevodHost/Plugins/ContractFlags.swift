internal import NevodPluginABI

/// The contract's rule for flags: an unknown bit is critical, ignorable or never assigned, by its position.
enum ContractFlags {
    /// - Returns: the bits that this host must not ignore and doesn't know, as words for a message; nil if there are none.
    static func unsupported(_ flags: UInt32, known: [Int]) -> String? {
        let known = known.reduce(into: UInt32(0)) { $0 |= UInt32(truncatingIfNeeded: $1) }
        let unknown = flags & ~known & ~NEVOD_IGNORABLE_BITS
        return unknown == 0 ? nil : "the bits 0x\(String(unknown, radix: 16))"
    }
}

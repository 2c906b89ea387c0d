internal import NevodPluginABI

/// The extension `nevod.public-suffix/1`: gives plugins the host's own check for public suffixes.
enum PublicSuffixTable {
    // Written once, never freed: plugins use it as long as their instances live.
    nonisolated(unsafe) static let table: UnsafePointer<nevod_public_suffix> = {
        let table = UnsafeMutablePointer<nevod_public_suffix>.allocate(capacity: 1)
        table.initialize(
            to: nevod_public_suffix(
                struct_size: UInt32(MemoryLayout<nevod_public_suffix>.size), reserved: 0, host: nil,
                is_public: { _, domain in isPublic(domain) ? 1 : 0 }))
        return UnsafePointer(table)
    }()

    private static func isPublic(_ domain: nevod_bytes) -> Bool {
        // A host name has at most 253 bytes. A NUL would end it early in the C library behind this check.
        guard (1...253).contains(domain.count), domain.data != nil,
            domain.buffer.allSatisfy({ URLHost.isNameByte($0) || $0 == UInt8(ascii: ":") })
        else {
            return true
        }
        return PublicSuffix.contains(String(decoding: domain.buffer, as: UTF8.self))
    }
}

internal import NevodPluginABI

/// A `nevod_view`, field by field. Nothing is checked: a test may put in it what no host would.
package struct ContractView: Sendable, Equatable {
    /// `NEVOD_TARGET_…`.
    package var targetKind: Int32 = 0
    package var method: [UInt8] = Array("GET".utf8)
    package var scheme: [UInt8] = Array("https".utf8)
    package var authority: [UInt8] = []
    package var target: [UInt8] = Array("/".utf8)
    package var headers: [ContractPair] = []
    /// `NEVOD_BODY_…`.
    package var bodyKind: Int32 = 0
    package var bodyLength: UInt64 = 0
    package var body: [UInt8] = []
    package var digests: [ContractPair] = []
    package var attempt: UInt32 = 1
    /// Nanoseconds since 1970.
    package var unixTime: Int64 = 0
    package var random: [UInt8] = []
    package var useCount: UInt64 = 0
    package var state: [UInt8] = []
    package var parameters: [ContractPair] = []
    package var reserved: UInt32 = 0

    package init() {}

    func table(_ arena: InputArena) -> UnsafePointer<nevod_view> {
        arena.table(
            nevod_view(
                struct_size: 0, target_kind: targetKind, method: arena.bytes(method), scheme: arena.bytes(scheme),
                authority: arena.bytes(authority), target: arena.bytes(target), headers: arena.pairs(headers),
                header_count: UInt32(clamping: headers.count), body_kind: bodyKind, body_length: bodyLength,
                body: arena.bytes(body), digests: arena.pairs(digests), digest_count: UInt32(clamping: digests.count),
                attempt: attempt, unix_time_ns: unixTime, random: arena.bytes(random), use_count: useCount,
                state: arena.bytes(state), parameters: arena.pairs(parameters),
                parameter_count: UInt32(clamping: parameters.count), reserved: reserved), .view)
    }
}

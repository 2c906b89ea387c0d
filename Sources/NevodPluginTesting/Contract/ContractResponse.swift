internal import NevodPluginABI

/// A `nevod_response`, field by field.
package struct ContractResponse: Sendable, Equatable {
    package var status: Int32
    /// `NEVOD_TARGET_…`.
    package var targetKind: Int32 = 0
    package var headers: [ContractPair]
    package var body: [UInt8]
    package var url: [UInt8]
    package var digests: [ContractPair] = []
    /// `NEVOD_RESPONSE_…`.
    package var flags: UInt32 = 0

    package init(_ status: Int32, headers: [ContractPair] = [], body: [UInt8] = [], url: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
    }

    func table(_ arena: InputArena) -> UnsafePointer<nevod_response> {
        arena.table(
            nevod_response(
                struct_size: 0, status: status, target_kind: targetKind, header_count: UInt32(clamping: headers.count),
                headers: arena.pairs(headers), body: arena.bytes(body), url: arena.bytes(url), digests: arena.pairs(digests),
                digest_count: UInt32(clamping: digests.count), flags: flags), .response)
    }
}

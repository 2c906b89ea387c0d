internal import NevodPluginABI

/// A `nevod_needs`, as an instance returned it.
package struct ContractNeeds: Sendable, Equatable {
    /// `NEVOD_NEED_…`.
    package var flags: UInt32 = 0
    /// The digests of a request's body.
    package var digests: [[UInt8]] = []
    /// The digests of a response's body.
    package var responseDigests: [[UInt8]] = []
    package var challengeStatuses: [Int32] = []
    package var reserved: UInt32 = 0

    package init() {}

    /// - Parameter flag: `NEVOD_NEED_…`.
    package func has(_ flag: Int) -> Bool { flags & UInt32(truncatingIfNeeded: flag) != 0 }

    init(_ pointer: UnsafePointer<nevod_needs>, _ reader: inout TableReader) {
        guard let table = reader.table(pointer, nevod_needs(), NEVOD_NEEDS_MINIMUM, "nevod_needs") else { return }
        flags = table.flags
        reserved = table.reserved
        digests = reader.array(table.digests, table.digest_count, "nevod_needs.digests").map {
            reader.bytes($0, "a digest's name")
        }
        responseDigests = reader.array(table.response_digests, table.response_digest_count, "nevod_needs.response_digests")
            .map { reader.bytes($0, "a digest's name") }
        challengeStatuses = Array(
            reader.array(table.challenge_statuses, table.challenge_status_count, "nevod_needs.challenge_statuses"))
    }
}

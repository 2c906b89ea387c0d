internal import NevodPluginABI
internal import NevodSupport

/// A `nevod_needs`, as an instance returned it.
package struct ContractNeeds: Sendable, Equatable {
    /// `NEVOD_NEED_…`.
    package var flags: UInt32 = 0
    /// The digests of a request's body.
    package var digests: [[UInt8]] = []
    /// The digests of a response's body.
    package var responseDigests: [[UInt8]] = []
    package var challengeStatuses: [Int32] = []
    package var challengeTypes: [[UInt8]] = []

    package init() {}

    /// - Parameter flag: `NEVOD_NEED_…`.
    package func has(_ flag: Int) -> Bool { flags & UInt32(truncatingIfNeeded: flag) != 0 }

    /// Whether a response is a challenge by its media type.
    func namesType(of response: ContractResponse, to method: String) -> Bool {
        guard method != "HEAD", (200...299).contains(response.status), response.status != 204,
            let line = response.headers.first(where: { $0.name.lazy.map(\.asciiLowercased).elementsEqual("content-type".utf8) }),
            let type = MediaType(contentType: line.value)
        else { return false }
        return challengeTypes.contains { MediaType(name: $0) == type }
    }

    init(_ pointer: UnsafePointer<nevod_needs>, _ reader: inout TableReader) {
        guard let table = reader.table(pointer, nevod_needs(), NEVOD_NEEDS_MINIMUM, "nevod_needs") else { return }
        flags = table.flags
        digests = reader.array(table.digests, table.digest_count, "nevod_needs.digests").map {
            reader.bytes($0, "a digest's name")
        }
        responseDigests = reader.array(table.response_digests, table.response_digest_count, "nevod_needs.response_digests")
            .map { reader.bytes($0, "a digest's name") }
        challengeStatuses = Array(
            reader.array(table.challenge_statuses, table.challenge_status_count, "nevod_needs.challenge_statuses"))
        challengeTypes = reader.array(table.challenge_types, table.challenge_type_count, "nevod_needs.challenge_types").map {
            reader.bytes($0, "a challenge type")
        }
    }
}

internal import NevodPluginABI

/// The checked result of an instance's `needs`: the parts of a request, and the responses, that it wants to see.
struct SchemeNeeds: Sendable {
    var flags: UInt32 = 0
    var digests: [DigestAlgorithm] = []

    var body: Bool { flags & UInt32(NEVOD_NEED_BODY) != 0 }
    var headers: Bool { flags & UInt32(NEVOD_NEED_HEADERS) != 0 }
    var useCount: Bool { flags & UInt32(NEVOD_NEED_USE_COUNT) != 0 }
    var random: Bool { flags & UInt32(NEVOD_NEED_RANDOM) != 0 }

    var state: Bool { flags & UInt32(NEVOD_NEED_STATE) != 0 }

    /// Whether `on_response` wants to see any responses.
    var anyResponse: Bool { flags & UInt32(NEVOD_NEED_RESPONSES | NEVOD_NEED_SUCCESSES) != 0 }

    /// Whether `on_response` wants to see responses with this status.
    func response(_ status: Int) -> Bool {
        let isChallenge = status == 401 || status == 407
        return flags & UInt32(isChallenge ? NEVOD_NEED_RESPONSES : NEVOD_NEED_SUCCESSES) != 0
    }

    private static let known = UInt32(
        NEVOD_NEED_BODY | NEVOD_NEED_HEADERS | NEVOD_NEED_RANDOM | NEVOD_NEED_USE_COUNT | NEVOD_NEED_RESPONSES
            | NEVOD_NEED_SUCCESSES | NEVOD_NEED_STATE)

    init() {}

    init(_ table: UnsafePointer<nevod_needs>, of scheme: Scheme) throws(PluginError) {
        let needs = table.pointee
        guard needs.struct_size >= MemoryLayout<nevod_needs>.size else {
            throw PluginError(
                scheme.plugin,
                .tooShort(
                    structure: "nevod_needs of \(scheme.id)", size: Int(needs.struct_size),
                    needed: MemoryLayout<nevod_needs>.size))
        }
        let field = "\(scheme.id).needs"
        guard needs.flags & ~Self.known == 0 else {
            throw PluginError(
                scheme.plugin,
                .malformed(
                    field: "\(field).flags",
                    problem: "contains bits that the contract doesn't know: 0x\(String(needs.flags & ~Self.known, radix: 16))"))
        }
        flags = needs.flags
        guard needs.digest_count <= 16 else {
            throw PluginError(
                scheme.plugin, .malformed(field: "\(field).digest_count", problem: "is \(needs.digest_count), more than 16"))
        }
        for index in 0..<Int(needs.digest_count) {
            guard let names = needs.digests else {
                throw PluginError(scheme.plugin, .malformed(field: "\(field).digests", problem: "is NULL"))
            }
            let name = names[index].message
            guard let digest = DigestAlgorithm(rawValue: name) else {
                throw PluginError(scheme.plugin, .unsupported(scheme: scheme.id, what: "the digest \"\(name)\""))
            }
            if !digests.contains(digest) { digests.append(digest) }
        }
    }
}

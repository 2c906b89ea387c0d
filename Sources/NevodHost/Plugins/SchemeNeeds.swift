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
    var anyResponse: Bool { flags & UInt32(NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES) != 0 }

    /// Whether `on_response` wants to see responses with this status.
    func response(_ status: Int) -> Bool {
        let isChallenge = status == 401 || status == 407
        return flags & UInt32(isChallenge ? NEVOD_NEED_CHALLENGES : NEVOD_NEED_OTHER_RESPONSES) != 0
    }

    private static let known = [
        NEVOD_NEED_BODY, NEVOD_NEED_HEADERS, NEVOD_NEED_CHALLENGES, NEVOD_NEED_OTHER_RESPONSES, NEVOD_NEED_RANDOM,
        NEVOD_NEED_STATE, NEVOD_NEED_USE_COUNT, NEVOD_NEED_CHALLENGE_BODY, NEVOD_NEED_REPLACE_BODY,
    ]

    init() {}

    init(_ table: UnsafePointer<nevod_needs>, of scheme: Scheme) throws(PluginError) {
        guard let needs = nevod_needs(copying: table, minimum: NEVOD_NEEDS_MINIMUM) else {
            throw PluginError(
                scheme.plugin,
                .tooShort(
                    structure: "nevod_needs of \(scheme.id)", size: Int(nevod_needs.size(of: table)),
                    needed: Int(NEVOD_NEEDS_MINIMUM)))
        }
        let field = "\(scheme.id).needs"
        if let what = ContractFlags.unsupported(needs.flags, known: Self.known) {
            throw PluginError(scheme.plugin, .unsupported(scheme: scheme.id, what: "\(what) of its needs"))
        }
        guard needs.reserved == 0 else {
            throw PluginError(
                scheme.plugin, .malformed(field: "\(field).reserved", problem: "is \(needs.reserved), and must be zero"))
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

internal import NevodPluginABI
internal import NevodSupport

/// The checked result of an instance's `needs`: the parts of a request, and the responses, that it wants to see.
struct SchemeNeeds: Sendable {
    var flags: UInt32 = 0
    /// The digests of a request's body.
    var digests: [DigestAlgorithm] = []
    /// The digests of a response's body.
    var responseDigests: [DigestAlgorithm] = []
    /// The statuses that are challenges for this scheme, besides 401 and 403, or 407.
    var challengeStatuses: [Int] = []
    /// The media types that make a 2xx response a challenge for this scheme.
    var challengeTypes: [MediaType] = []

    var body: Bool { flags & UInt32(NEVOD_NEED_BODY) != 0 }
    var headers: Bool { flags & UInt32(NEVOD_NEED_HEADERS) != 0 }
    var useCount: Bool { flags & UInt32(NEVOD_NEED_USE_COUNT) != 0 }
    var random: Bool { flags & UInt32(NEVOD_NEED_RANDOM) != 0 }

    var state: Bool { flags & UInt32(NEVOD_NEED_STATE) != 0 }

    /// Whether `authorize` may replace or wrap the body.
    var replacesBody: Bool { flags & UInt32(NEVOD_NEED_REPLACE_BODY) != 0 }

    /// Whether `on_response` wants to see any responses.
    var anyResponse: Bool { flags & UInt32(NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES) != 0 }

    var challengeBody: Bool { flags & UInt32(NEVOD_NEED_CHALLENGE_BODY) != 0 }

    /// Whether a response from the target is a challenge for this scheme.
    func isChallenge(_ response: HTTPResponse, to method: HTTPMethod, from target: SchemeTarget) -> Bool {
        let status = response.status
        guard target == .origin else { return status == 407 }
        return status == 401 || status == 403 || challengeStatuses.contains(status)
            || !challengeTypes.isEmpty && (200...299).contains(status) && hasChallengeType(response, to: method)
    }

    private func hasChallengeType(_ response: HTTPResponse, to method: HTTPMethod) -> Bool {
        guard response.hasBody(inResponseTo: method),
            let type = response.headers.bytes(of: "Content-Type").flatMap(MediaType.init(contentType:))
        else { return false }
        return challengeTypes.contains(type)
    }

    /// Whether `on_response` wants to see a response from the target.
    func sees(_ response: HTTPResponse, to method: HTTPMethod, from target: SchemeTarget) -> Bool {
        let asked = flags & UInt32(NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES)
        guard asked != 0, asked != UInt32(NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES) else { return asked != 0 }
        return isChallenge(response, to: method, from: target) == (asked == UInt32(NEVOD_NEED_CHALLENGES))
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
        flags = needs.flags
        let digestNames = try Self.array(
            needs.digests, needs.digest_count, upTo: NEVOD_LIMIT_DIGESTS, "\(field).digest", of: scheme)
        digests = try Self.algorithms(digestNames, of: scheme)
        let responseNames = try Self.array(
            needs.response_digests, needs.response_digest_count, upTo: NEVOD_LIMIT_DIGESTS, "\(field).response_digest", of: scheme
        )
        responseDigests = try Self.algorithms(responseNames, of: scheme)
        for status in try Self.array(
            needs.challenge_statuses, needs.challenge_status_count, upTo: NEVOD_LIMIT_STATUSES, "\(field).challenge_status",
            plural: "es", of: scheme)
        {
            guard (300...599).contains(status) else {
                throw PluginError(
                    scheme.plugin,
                    .malformed(field: "\(field).challenge_statuses", problem: "has \(status); it must be from 300 to 599"))
            }
            challengeStatuses.append(Int(status))
        }
        for name in try Self.array(
            needs.challenge_types, needs.challenge_type_count, upTo: NEVOD_LIMIT_TYPES, "\(field).challenge_type", of: scheme)
        {
            guard let type = MediaType(name: name.buffer) else {
                throw PluginError(
                    scheme.plugin,
                    .malformed(
                        field: "\(field).challenge_types",
                        problem: "has \"\(name.message)\"; it must be a media type without parameters, such as text/html"))
            }
            challengeTypes.append(type)
        }
    }

    /// Returns an array from the table.
    ///
    /// - Parameter field: the name of the array's field, without the ending of the plural.
    private static func array<Value>(
        _ start: UnsafePointer<Value>?, _ count: UInt32, upTo limit: Int32, _ field: String, plural: String = "s",
        of scheme: Scheme
    ) throws(PluginError) -> UnsafeBufferPointer<Value> {
        guard count <= limit else {
            throw PluginError(scheme.plugin, .malformed(field: "\(field)_count", problem: "is \(count), more than \(limit)"))
        }
        guard count == 0 || start != nil else {
            throw PluginError(scheme.plugin, .malformed(field: "\(field)\(plural)", problem: "is NULL"))
        }
        return UnsafeBufferPointer(start: start, count: Int(count))
    }

    private static func algorithms(
        _ names: UnsafeBufferPointer<nevod_bytes>, of scheme: Scheme
    ) throws(PluginError) -> [DigestAlgorithm] {
        var algorithms: [DigestAlgorithm] = []
        for name in names {
            guard let digest = DigestAlgorithm(rawValue: name.message) else {
                throw PluginError(scheme.plugin, .unsupported(scheme: scheme.id, what: "the digest \"\(name.message)\""))
            }
            if !algorithms.contains(digest) { algorithms.append(digest) }
        }
        return algorithms
    }
}

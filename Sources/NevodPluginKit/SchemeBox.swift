internal import NevodPluginABI

/// The object behind the host's pointer to an instance. Its closures hold the scheme, because the contract's functions can't know its
/// type.
final class SchemeBox {
    typealias Authorize = (
        UnsafeRawPointer?, UnsafePointer<nevod_view>, UnsafePointer<nevod_edits>, UnsafePointer<nevod_errors>
    ) -> Int32
    typealias Respond = (
        UnsafeRawPointer?, UnsafePointer<nevod_view>, UnsafePointer<nevod_response>, UnsafePointer<nevod_actions>
    ) throws(SchemeError) -> Verdict

    let needs: UnsafePointer<nevod_needs>
    let authorize: Authorize
    let respond: Respond
    let authorizesProxies: Bool
    /// Nil if the scheme has no flows.
    let flows: SchemeFlows?
    private let digests: UnsafeMutableBufferPointer<nevod_bytes>
    private let responseDigests: UnsafeMutableBufferPointer<nevod_bytes>
    private let statuses: UnsafeMutableBufferPointer<Int32>
    private let types: UnsafeMutableBufferPointer<nevod_bytes>
    private let typeNames: UnsafeMutableBufferPointer<UInt8>

    init(
        needs: Needs, challengeStatuses: [Int], challengeTypes: [String], authorizesProxies: Bool,
        authorize: @escaping Authorize, respond: @escaping Respond, flows: SchemeFlows? = nil
    ) {
        self.authorizesProxies = authorizesProxies
        self.authorize = authorize
        self.respond = respond
        self.flows = flows
        digests = Self.copy(DigestAlgorithm.allCases.filter { needs.contains($0.need) }.map { nevod_bytes($0.name) })
        responseDigests = Self.copy(
            DigestAlgorithm.allCases.filter { needs.contains($0.responseNeed) }.map { nevod_bytes($0.name) })
        statuses = Self.copy(challengeStatuses.map { Int32(clamping: $0) })
        typeNames = Self.copy(challengeTypes.flatMap { Array($0.utf8) })
        var start = 0
        types = Self.copy(
            challengeTypes.map { [typeNames] type in
                let name = UnsafeBufferPointer(rebasing: typeNames[start..<start + type.utf8.count])
                start += type.utf8.count
                return nevod_bytes(data: name.baseAddress, count: UInt64(name.count))
            })
        let table = UnsafeMutablePointer<nevod_needs>.allocate(capacity: 1)
        table.initialize(
            to: nevod_needs(
                struct_size: UInt32(MemoryLayout<nevod_needs>.size), flags: needs.flags,
                digests: UnsafePointer(digests.baseAddress), response_digests: UnsafePointer(responseDigests.baseAddress),
                challenge_statuses: UnsafePointer(statuses.baseAddress), digest_count: UInt32(digests.count),
                response_digest_count: UInt32(responseDigests.count), challenge_status_count: UInt32(statuses.count),
                challenge_type_count: UInt32(types.count), challenge_types: UnsafePointer(types.baseAddress)))
        self.needs = UnsafePointer(table)
    }

    deinit {
        needs.deallocate()
        digests.deallocate()
        responseDigests.deallocate()
        statuses.deallocate()
        types.deallocate()
        typeNames.deallocate()
    }

    private static func copy<Value>(_ values: [Value]) -> UnsafeMutableBufferPointer<Value> {
        let copy = UnsafeMutableBufferPointer<Value>.allocate(capacity: values.count)
        _ = copy.initialize(from: values)
        return copy
    }
}

extension SchemeBox {
    convenience init<Scheme: AuthScheme>(_ scheme: Scheme) {
        let held = Held(scheme)
        self.init(
            needs: scheme.needs, challengeStatuses: scheme.challengeStatuses, challengeTypes: scheme.challengeTypes,
            authorizesProxies: Scheme.authorizesProxies,
            authorize: { _, view, edits, errors in
                do throws(SchemeError) {
                    try held.scheme.authorize(RequestView(view), Edits(edits))
                    return Int32(NEVOD_OK)
                } catch {
                    return error.report(to: errors)
                }
            },
            respond: { _, view, response, actions throws(SchemeError) in
                try held.scheme.respond(to: ResponseView(response), RequestView(view), ResponseEdits(actions))
            })
    }
}

/// Keeps a scheme in one place: a closure that captures the struct itself copies it for each call.
final class Held<Scheme: AuthScheme> {
    let scheme: Scheme

    init(_ scheme: Scheme) {
        self.scheme = scheme
    }
}

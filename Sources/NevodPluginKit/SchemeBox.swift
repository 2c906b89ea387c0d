internal import NevodPluginABI

/// The object behind the host's pointer to an instance.
class AnySchemeBox {
    let needs: UnsafePointer<nevod_needs>
    private let digests: UnsafeMutableBufferPointer<nevod_bytes>
    private let responseDigests: UnsafeMutableBufferPointer<nevod_bytes>
    private let statuses: UnsafeMutableBufferPointer<Int32>

    init(needs: Needs, challengeStatuses: [Int]) {
        digests = Self.copy(DigestAlgorithm.allCases.filter { needs.contains($0.need) }.map { nevod_bytes($0.name) })
        responseDigests = Self.copy(
            DigestAlgorithm.allCases.filter { needs.contains($0.responseNeed) }.map { nevod_bytes($0.name) })
        statuses = Self.copy(challengeStatuses.map { Int32(clamping: $0) })
        let table = UnsafeMutablePointer<nevod_needs>.allocate(capacity: 1)
        table.initialize(
            to: nevod_needs(
                struct_size: UInt32(MemoryLayout<nevod_needs>.size), flags: needs.flags,
                digests: UnsafePointer(digests.baseAddress), response_digests: UnsafePointer(responseDigests.baseAddress),
                challenge_statuses: UnsafePointer(statuses.baseAddress), digest_count: UInt32(digests.count),
                response_digest_count: UInt32(responseDigests.count), challenge_status_count: UInt32(statuses.count), reserved: 0)
        )
        self.needs = UnsafePointer(table)
    }

    deinit {
        needs.deallocate()
        digests.deallocate()
        responseDigests.deallocate()
        statuses.deallocate()
    }

    private static func copy<Value>(_ values: [Value]) -> UnsafeMutableBufferPointer<Value> {
        let copy = UnsafeMutableBufferPointer<Value>.allocate(capacity: values.count)
        _ = copy.initialize(from: values)
        return copy
    }

    func authorize(
        _ token: UnsafeRawPointer?, _ view: UnsafePointer<nevod_view>, _ edits: UnsafePointer<nevod_edits>,
        _ errors: UnsafePointer<nevod_errors>
    ) -> Int32 {
        preconditionFailure("abstract")
    }

    func respond(
        _ token: UnsafeRawPointer?, _ view: UnsafePointer<nevod_view>, _ response: UnsafePointer<nevod_response>,
        _ actions: UnsafePointer<nevod_actions>
    ) throws(SchemeError) -> Verdict {
        preconditionFailure("abstract")
    }
}

final class SchemeBox<Scheme: AuthScheme>: AnySchemeBox {
    private let scheme: Scheme

    init(_ scheme: Scheme) {
        self.scheme = scheme
        super.init(needs: scheme.needs, challengeStatuses: scheme.challengeStatuses)
    }

    override func authorize(
        _ token: UnsafeRawPointer?, _ view: UnsafePointer<nevod_view>, _ edits: UnsafePointer<nevod_edits>,
        _ errors: UnsafePointer<nevod_errors>
    ) -> Int32 {
        do throws(SchemeError) {
            try scheme.authorize(RequestView(view), Edits(edits))
            return Int32(NEVOD_OK)
        } catch {
            return error.report(to: errors)
        }
    }

    override func respond(
        _ token: UnsafeRawPointer?, _ view: UnsafePointer<nevod_view>, _ response: UnsafePointer<nevod_response>,
        _ actions: UnsafePointer<nevod_actions>
    ) throws(SchemeError) -> Verdict {
        try scheme.respond(to: ResponseView(response), RequestView(view), ResponseEdits(actions))
    }
}

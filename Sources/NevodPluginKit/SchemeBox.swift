internal import NevodPluginABI

/// The object behind the host's pointer to an instance.
class AnySchemeBox {
    let needs: UnsafePointer<nevod_needs>
    private let digests: UnsafeMutableBufferPointer<nevod_bytes>

    init(needs: Needs) {
        let names = DigestAlgorithm.allCases.filter { needs.contains($0.need) }.map { nevod_bytes($0.name) }
        digests = .allocate(capacity: names.count)
        _ = digests.initialize(from: names)
        let table = UnsafeMutablePointer<nevod_needs>.allocate(capacity: 1)
        table.initialize(
            to: nevod_needs(
                struct_size: UInt32(MemoryLayout<nevod_needs>.size), flags: needs.flags,
                digests: UnsafePointer(digests.baseAddress), response_digests: nil, challenge_statuses: nil,
                digest_count: UInt32(names.count), response_digest_count: 0, challenge_status_count: 0, reserved: 0))
        self.needs = UnsafePointer(table)
    }

    deinit {
        needs.deallocate()
        digests.deallocate()
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
    ) -> Verdict {
        preconditionFailure("abstract")
    }
}

final class SchemeBox<Scheme: AuthScheme>: AnySchemeBox {
    private let scheme: Scheme

    init(_ scheme: Scheme) {
        self.scheme = scheme
        super.init(needs: scheme.needs)
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
    ) -> Verdict {
        scheme.respond(to: ResponseView(response), RequestView(view), ResponseEdits(actions))
    }
}

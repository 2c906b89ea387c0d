import NevodHost
import NevodSupport

/// The transfers of one operation in their order: redirects, retries and answers to challenges, each with its response. A login's own
/// requests are not among them.
///
/// Filled by ``HopTransport``, on the session's thread.
final class HopLog: Sendable {
    private let log = Locked<[Hop]>([])
    private let path = Locked<String?>(nil)

    /// The file that the body is written to; nil before it is chosen, and for standard output.
    var file: String? {
        get { path.withLock { $0 } }
        set { path.withLock { $0 = newValue } }
    }

    var hops: [Hop] { log.withLock { $0 } }

    /// The newest hop; nil before the first request is sent.
    var last: Hop? { log.withLock { $0.last } }

    /// Adds a hop.
    ///
    /// - Returns: its index, for ``update(_:_:)``.
    func append(_ request: HTTPRequest) -> Int {
        log.withLock { hops in
            hops.append(Hop(request, after: hops.last))
            return hops.count - 1
        }
    }

    func update(_ index: Int, _ change: (inout Hop) -> Void) {
        log.withLock { hops in
            guard hops.indices.contains(index) else { return }
            change(&hops[index])
        }
    }
}

internal import NevodSupport

/// The digests of a response's body, computed while it is read.
final class ResponseDigests: Sendable {
    private struct State {
        var running: [(algorithm: DigestAlgorithm, digest: SharedDigest)]
        var values: [(algorithm: DigestAlgorithm, value: [UInt8])] = []
    }

    private let state: Locked<State>

    init(_ algorithms: [DigestAlgorithm]) {
        state = Locked(State(running: algorithms.compactMap { algorithm in SharedDigest(algorithm).map { (algorithm, $0) } }))
    }

    /// Adds the next piece of the body, or nil at its end.
    func add(_ piece: [UInt8]?) {
        state.withLock { state in
            if let piece {
                for (_, digest) in state.running { digest.update(piece) }
            } else if !state.running.isEmpty {
                // A stream that has ended may be read again.
                let running = state.running
                state.running = []
                state.values = running.compactMap { algorithm, digest in digest.finish().map { (algorithm, $0) } }
            }
        }
    }

    /// The digests; none before the end of the body.
    var values: [(algorithm: DigestAlgorithm, value: [UInt8])] { state.withLock { $0.values } }
}

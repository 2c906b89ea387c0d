import NevodHost
import NevodSupport

/// A wall clock that a test sets.
final class HandClock: Sendable {
    private let state: Locked<(seconds: Int64, reads: Int)>

    init(_ seconds: Int64 = SignedTokens.time) {
        state = Locked((seconds, 0))
    }

    var host: HostClock {
        HostClock { [self] in
            state.withLock { state in
                state.reads += 1
                return state.seconds * 1_000_000_000
            }
        }
    }

    func advance(_ count: Int64) { state.withLock { $0.seconds += count } }

    /// How often the clock was read.
    var reads: Int { state.withLock { $0.reads } }
}

internal import NevodSupport

/// The sessions for the sets of parameters that requests have used, so that all requests with one set share one renewal.
final class ParameterSessions: Sendable {
    private struct Entry {
        let session: SchemeSession
        var lastUse: UInt64
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var uses: UInt64 = 0
    }

    /// Beyond it, the set that was used least recently is forgotten, unless its token is being renewed or saved. Its token stays in the
    /// storage.
    private static let most = 1000
    private let state = Locked(State())

    /// Returns the session of a set, made by `make` if there is none yet.
    func session(_ set: ParameterSet, _ make: () -> SchemeSession) -> SchemeSession {
        state.withLock { state in
            state.uses += 1
            if let known = state.entries[set.canonical]?.session {
                state.entries[set.canonical]?.lastUse = state.uses
                return known
            }
            if state.entries.count >= Self.most {
                let idle = state.entries.filter { !$0.value.session.isBusy }
                if let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) { state.entries[oldest.key] = nil }
            }
            let made = make()
            state.entries[set.canonical] = Entry(session: made, lastUse: state.uses)
            return made
        }
    }

    var all: [SchemeSession] { state.withLock { $0.entries.values.map(\.session) } }
}

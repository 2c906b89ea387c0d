internal import NevodSupport

/// What a scheme keeps for each origin, and how often it was used: read together, so that a nonce and its count belong to each
/// other however many requests are made at once.
struct SchemeStates {
    private struct Entry {
        var state: Secret?
        var uses: UInt64 = 0
    }

    /// Origins are as many as a program talks to; a state that is dropped costs a challenge.
    private static let mostOrigins = 1000

    private var entries: [Origin: Entry] = [:]
    /// Of a login, which comes before any request: where an origin begins.
    private var initial: Secret?

    func state(at origin: Origin?) -> Secret? {
        origin.flatMap { entries[$0]?.state } ?? initial
    }

    mutating func set(_ state: Secret, at origin: Origin?) {
        guard let origin else {
            initial = state
            return
        }
        makeRoom(for: origin)
        entries[origin] = Entry(state: state)
    }

    mutating func use(at origin: Origin) -> StateUse {
        makeRoom(for: origin)
        defer { entries[origin, default: Entry()].uses += 1 }
        return StateUse(state: state(at: origin), count: entries[origin]?.uses ?? 0)
    }

    private mutating func makeRoom(for origin: Origin) {
        guard entries.count >= Self.mostOrigins, entries[origin] == nil, let victim = entries.first?.key else { return }
        entries[victim] = nil
    }
}

/// A state, and how often it was used before.
struct StateUse: Sendable {
    var state: Secret?
    var count: UInt64 = 0
}

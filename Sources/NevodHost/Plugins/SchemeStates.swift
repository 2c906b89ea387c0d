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

    /// At no origin: what a login kept, which comes before any request. An origin begins there.
    private var entries: [Origin?: Entry] = [:]

    func state(at origin: Origin?) -> Secret? {
        entries[origin]?.state ?? entries[nil]?.state
    }

    /// The count begins again, unless the state is the same: a server may hand out one nonce to several requests.
    mutating func set(_ state: Secret, at origin: Origin?) {
        guard entries[origin]?.state != state else { return }
        makeRoom(for: origin)
        entries[origin] = Entry(state: state)
    }

    /// Sets a state if the one that was used is still there: of requests that were challenged at the same time, the first one's
    /// answer is kept, and an old answer that comes late does not bring an old nonce back, whose count would begin again.
    mutating func replace(_ used: Secret?, with state: Secret, at origin: Origin?) {
        guard self.state(at: origin) == used else { return }
        set(state, at: origin)
    }

    mutating func use(at origin: Origin?) -> StateUse {
        makeRoom(for: origin)
        defer { entries[origin, default: Entry()].uses += 1 }
        return StateUse(state: state(at: origin), count: entries[origin]?.uses ?? 0)
    }

    private mutating func makeRoom(for origin: Origin?) {
        guard entries.count >= Self.mostOrigins, entries[origin] == nil,
            let victim = entries.keys.first(where: { $0 != nil })
        else { return }
        entries[victim] = nil
    }
}

/// A state, and how often it was used before.
struct StateUse: Sendable {
    var state: Secret?
    var count: UInt64 = 0
}

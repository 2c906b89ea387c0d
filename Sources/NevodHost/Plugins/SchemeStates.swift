internal import NevodSupport

/// Whose state it is, and where. Accounts are whom a scheme says that its tokens belong to.
struct StatePlace: Hashable, Sendable {
    var account = ""
    /// Nil: what a login kept, which comes before any request; and what a proxy answers, one for all origins.
    var origin: Origin?
}

/// What a scheme keeps for each account and origin, and how often it was used: read together, so that a nonce and its count
/// belong to each other however many requests are made at once.
struct SchemeStates {
    private struct Entry {
        var state: Secret?
        var uses: UInt64 = 0
    }

    /// Places are as many as a program talks to; a state that is dropped costs a challenge.
    private static let most = 1000

    private var entries: [StatePlace: Entry] = [:]
    /// By account: no origin that begins with the login's state begins below this, since one that was dropped got so far with it.
    private var floors: [String: UInt64] = [:]

    /// An origin begins with what the account's login kept.
    func state(at place: StatePlace) -> Secret? {
        entries[place]?.state ?? entries[StatePlace(account: place.account)]?.state
    }

    /// The count begins again, unless the state is the same: a server may hand out one nonce to several requests. What a login
    /// keeps is for all origins, whatever was kept for them before.
    mutating func set(_ state: Secret, at place: StatePlace) {
        guard entries[place]?.state != state else { return }
        if place.origin == nil {
            entries = entries.filter { $0.key.account != place.account }
            floors[place.account] = nil
        }
        makeRoom(for: place)
        entries[place] = Entry(state: state)
    }

    /// Sets a state if the one that was used is still there: of requests that were challenged at the same time, the first one's
    /// answer is kept, and an old answer that comes late does not bring an old nonce back, whose count would begin again.
    mutating func replace(_ used: Secret?, with state: Secret, at place: StatePlace) {
        guard self.state(at: place) == used else { return }
        set(state, at: place)
    }

    mutating func use(at place: StatePlace) -> StateUse {
        makeRoom(for: place)
        var entry = entries[place] ?? Entry(uses: floors[place.account] ?? 0)
        defer {
            entry.uses += 1
            entries[place] = entry
        }
        return StateUse(state: state(at: place), count: entry.uses)
    }

    private mutating func makeRoom(for place: StatePlace) {
        guard entries.count >= Self.most, entries[place] == nil,
            let victim = entries.keys.first(where: { $0.origin != nil })
        else { return }
        let uses = entries.removeValue(forKey: victim)?.uses ?? 0
        floors[victim.account] = max(floors[victim.account] ?? 0, uses)
    }
}

/// A state, and how often it was used before.
struct StateUse: Sendable {
    var state: Secret?
    var count: UInt64 = 0
}

/// What a request was authorised with: what `on_response` is shown with the answer, whatever is stored by then.
struct SchemeUse: Sendable {
    var state = StateUse()
    var token: LiveToken?
    var account = ""
}

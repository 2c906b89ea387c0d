internal import NevodSupport

/// The key of a scheme's state: an account and an origin.
struct StatePlace: Hashable, Sendable {
    /// The account that the token belongs to, as the scheme named it.
    var account = ""
    /// Nil for the state that a login kept, since a login precedes any request; and for a proxy, which has one state for all
    /// origins.
    var origin: Origin?
}

/// The states that a scheme keeps for each account and origin, with their use counts. State and count are read together, so that
/// concurrent requests never use a nonce with another nonce's count.
struct SchemeStates {
    private struct Entry {
        var state: Secret?
        var uses: UInt64 = 0
    }

    /// Limits the memory for a program that talks to many origins. Dropping a state costs one challenge.
    private static let most = 1000

    private var entries: [StatePlace: Entry] = [:]
    /// For each account, the use count at which a new origin starts to use the login's state. Dropping an origin's entry raises
    /// it, because that origin may have used the state up to this count.
    private var floors: [String: UInt64] = [:]

    /// Returns the state of the place, or the one that the account's login kept.
    func state(at place: StatePlace) -> Secret? {
        entries[place]?.state ?? entries[StatePlace(account: place.account)]?.state
    }

    /// Sets the state and restarts its use count, unless the state is the same: a server may give one nonce to several requests.
    /// A login's state replaces the states of all origins of its account.
    mutating func set(_ state: Secret, at place: StatePlace) {
        guard entries[place]?.state != state else { return }
        if place.origin == nil {
            entries = entries.filter { $0.key.account != place.account }
            floors[place.account] = nil
        }
        makeRoom(for: place)
        entries[place] = Entry(state: state)
    }

    /// Sets a state only if the current one is the one that was used. If several requests are challenged concurrently, the first
    /// response counts. A late response can't bring back an old nonce, whose use count would restart.
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

/// A state, and the number of its earlier uses.
struct StateUse: Sendable {
    var state: Secret?
    var count: UInt64 = 0
}

/// The state and token that a request was authorized with. `on_response` gets these, even if newer ones are stored by then.
struct SchemeUse: Sendable {
    var state = StateUse()
    var token: LiveToken?
    var account = ""
    var parameters: ParameterSet?
    /// The digests of the request's streamed body.
    var streamDigests: StreamDigests?
    /// The body of the response, once it is received.
    var body = ReceivedBody()
}

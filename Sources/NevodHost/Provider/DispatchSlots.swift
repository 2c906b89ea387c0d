internal import NevodSupport

/// How many requests may be on their way to one origin at a time. The others wait here, in the order of their arrival,
/// without a credential: it is bound when a request leaves, so that one which has waited doesn't leave with a token that was
/// replaced meanwhile.
final class DispatchSlots: Sendable {
    /// Changed in place only: a copy of it would be a copy of everyone who waits.
    private struct Queue {
        var free: Int
        var waiting = Deque<Waiter<Void>>()

        /// Who has to wait; nil: there was a free slot.
        mutating func enter() -> Waiter<Void>? {
            guard free == 0 else {
                free -= 1
                return nil
            }
            let waiter = Waiter<Void>()
            waiting.append(waiter)
            return waiter
        }

        /// Whose turn it is; nil: nobody's, and the slot is free.
        mutating func leave() -> Waiter<Void>? {
            let waiter = waiting.popFirst()
            if waiter == nil { free += 1 }
            return waiter
        }
    }

    private let limit: Int
    private let queues = Locked<[Origin: Queue]>([:])

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// A request that an interceptor sends on behalf of another one takes no slot: the other one may hold the last.
    @TaskLocal static var isNested = false

    func acquire(for origin: Origin, until deadline: ContinuousClock.Instant?) async throws -> DispatchSlot {
        guard !Self.isNested else { return DispatchSlot(slots: nil, origin: origin) }
        try await enter(origin, deadline)
        return DispatchSlot(slots: self, origin: origin)
    }

    fileprivate func enter(_ origin: Origin, _ deadline: ContinuousClock.Instant?) async throws {
        let waiter = queues.withLock { $0[origin, default: Queue(free: limit)].enter() }
        try await waiter?.value(until: deadline)
    }

    func waitingCount(_ origin: Origin) -> Int {
        queues.withLock { $0[origin]?.waiting.count ?? 0 }
    }

    var isUnused: Bool { queues.withLock { $0.isEmpty } }

    fileprivate func release(_ origin: Origin) {
        // A waiter that was cancelled meanwhile passes the slot on.
        while let waiter = next(at: origin) {
            if waiter.resume(with: .success(())) { return }
        }
    }

    private func next(at origin: Origin) -> Waiter<Void>? {
        queues.withLock { queues in
            guard let index = queues.index(forKey: origin) else { return nil }
            let waiter = queues.values[index].leave()
            // Nobody is there any more: origins are as many as servers send us to.
            if queues.values[index].free == limit { queues.remove(at: index) }
            return waiter
        }
    }
}

/// The right to have one request on its way, given back when the last reference goes.
final class DispatchSlot: Sendable {
    private let slots: DispatchSlots?
    private let origin: Origin
    private let isHeld: Locked<Bool>

    fileprivate init(slots: DispatchSlots?, origin: Origin) {
        self.slots = slots
        self.origin = origin
        isHeld = Locked(slots != nil)
    }

    deinit {
        release()
    }

    /// Gives the slot back, and returns what takes it again. A request that held none, because its response has arrived, needs
    /// none afterwards.
    func yield(until deadline: ContinuousClock.Instant?) -> @Sendable () async throws -> Void {
        let wasHeld = giveBack()
        return { [self] in
            guard wasHeld, let slots else { return }
            try await slots.enter(origin, deadline)
            isHeld.withLock { $0 = true }
        }
    }

    func release() {
        _ = giveBack()
    }

    /// - Returns: whether it was held.
    private func giveBack() -> Bool {
        let wasHeld = isHeld.withLock { held in
            defer { held = false }
            return held
        }
        if wasHeld { slots?.release(origin) }
        return wasHeld
    }
}

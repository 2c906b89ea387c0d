internal import NevodSupport

/// Limits the requests in flight to one origin. Further requests wait for a slot in order of arrival, before a credential is put
/// on them: a credential bound earlier could be replaced while the request waits.
final class DispatchSlots: Sendable {
    /// Changed in place only: copying it would copy all waiters.
    private struct Queue {
        var free: Int
        var waiting = Deque<Waiter<Void>>()

        /// Takes a free slot and returns nil, or returns a new waiter if no slot is free.
        mutating func enter() -> Waiter<Void>? {
            guard free == 0 else {
                free -= 1
                return nil
            }
            let waiter = Waiter<Void>()
            waiting.append(waiter)
            return waiter
        }

        /// Returns the waiter to pass the slot to. If there is none, frees the slot and returns nil.
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

    /// True while an interceptor runs. Requests that the interceptor sends take no slot, because the request that it works on may
    /// hold the last one.
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
        // A waiter that was cancelled meanwhile can't be resumed: the slot goes to the next.
        while let waiter = next(at: origin) {
            if waiter.resume(with: .success(())) { return }
        }
    }

    private func next(at origin: Origin) -> Waiter<Void>? {
        queues.withLock { queues in
            guard let index = queues.index(forKey: origin) else { return nil }
            let waiter = queues.values[index].leave()
            // Unused queues are removed, because redirects can lead to any number of origins.
            if queues.values[index].free == limit { queues.remove(at: index) }
            return waiter
        }
    }
}

/// The right to have one request in flight; released with its last reference at the latest.
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

    /// Releases the slot, and returns a closure that acquires it again. The closure does nothing if the slot wasn't held, for
    /// example because a response has arrived.
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

    /// Releases the slot if it is held; returns whether it was.
    private func giveBack() -> Bool {
        let wasHeld = isHeld.withLock { held in
            defer { held = false }
            return held
        }
        if wasHeld { slots?.release(origin) }
        return wasHeld
    }
}

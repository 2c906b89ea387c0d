/// The graph of renewals that wait for other renewals. It never contains a cycle.
struct RenewalWaits {
    private var waits: [ObjectIdentifier: [ObjectIdentifier]] = [:]

    var isEmpty: Bool { waits.isEmpty }

    /// - Returns: false, with nothing changed, if the wait would close a cycle.
    mutating func begin(_ waiting: [ObjectIdentifier], _ target: ObjectIdentifier) -> Bool {
        guard reachable(from: target).isDisjoint(with: waiting) else { return false }
        for waiter in waiting { waits[waiter, default: []].append(target) }
        return true
    }

    mutating func end(_ waiting: [ObjectIdentifier], _ target: ObjectIdentifier) {
        for waiter in waiting {
            if let index = waits[waiter]?.firstIndex(of: target) { waits[waiter]?.remove(at: index) }
            if waits[waiter]?.isEmpty == true { waits[waiter] = nil }
        }
    }

    private func reachable(from start: ObjectIdentifier) -> Set<ObjectIdentifier> {
        var reached: Set = [start]
        var pending = [start]
        while let renewal = pending.popLast() {
            for target in waits[renewal] ?? [] where reached.insert(target).inserted { pending.append(target) }
        }
        return reached
    }
}

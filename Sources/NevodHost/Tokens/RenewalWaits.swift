internal import NevodSupport

/// The renewals that the current task is part of. The task's requests must not wait for them.
enum RenewalContext {
    /// From the outermost to the innermost.
    @TaskLocal static var renewals: [Renewal] = []

    /// The innermost unfinished renewal of a coordinator's token; nil if the current task belongs to none.
    static func renewal(of coordinator: ObjectIdentifier) -> Renewal? {
        renewals.last { $0.coordinator == coordinator && !$0.isFinished }
    }

    /// Called before a request is sent. Throws if the request is part of a renewal that another process has taken over.
    static func willSend(_ request: HTTPRequest) async throws {
        let renewals = renewals
        guard !renewals.isEmpty else { return }
        let isSafe = request.method == .get || request.method == .head
        for renewal in renewals where !renewal.isFinished { try await renewal.willSend(isSafe: isSafe) }
    }

    private static let waits = Locked(RenewalWaits())

    /// Runs `wait`, which waits for the renewal of a coordinator's token.
    ///
    /// Returns nil without waiting if that renewal itself waits for a renewal that the current task is part of. Otherwise two
    /// services would deadlock if each one's strategy needs the other's token.
    static func waitForRenewal<Success: Sendable>(
        of coordinator: ObjectIdentifier, _ wait: () async throws -> Success
    ) async throws -> Success? {
        let own = renewals.filter { !$0.isFinished }.map(\.coordinator)
        guard !own.isEmpty else { return try await wait() }
        guard waits.withLock({ $0.begin(own, coordinator) }) else { return nil }
        defer { waits.withLock { $0.end(own, coordinator) } }
        return try await wait()
    }
}

/// A token's renewal needs a second token, and the second token's renewal waits for the first.
struct RenewalCycleError: Error, CustomStringConvertible {
    var description: String { "its renewal needs another token, and that token's renewal waits for this one" }
}

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

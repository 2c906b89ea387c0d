internal import NevodSupport

/// Whose renewals this task belongs to: its own requests must not wait for them.
enum RenewalContext {
    @TaskLocal static var renewing: [Renewal] = []

    static func belongs(toRenewalOf coordinator: ObjectIdentifier) -> Bool {
        renewing.contains { $0.coordinator == coordinator && !$0.isOver }
    }

    private static let waits = Locked(RenewalWaits())

    /// Waits for the renewal of a coordinator's token; nil, at once, if that one waits for a renewal which this task belongs to.
    /// (Two services whose strategies each need the other's token would wait for each other for ever.)
    static func waiting<Success: Sendable>(
        for coordinator: ObjectIdentifier, _ wait: () async throws -> Success
    ) async throws -> Success? {
        let own = renewing.filter { !$0.isOver }.map(\.coordinator)
        guard !own.isEmpty else { return try await wait() }
        guard waits.withLock({ $0.begin(own, coordinator) }) else { return nil }
        defer { waits.withLock { $0.end(own, coordinator) } }
        return try await wait()
    }
}

/// One renewal of a coordinator's token. A task that it began and left behind learns from this that it is over.
final class Renewal: Sendable {
    let coordinator: ObjectIdentifier
    private let end = Locked(false)
    private let version: Locked<TokenVersion>
    /// Lets go of the storage's renewal lock, which others wait for: nothing of the stored token is spent any more, and a person
    /// may think for long. May be called more than once.
    let releaseLock: @Sendable () -> Void

    /// - Parameter base: the version that the renewed token will replace.
    init(of coordinator: ObjectIdentifier, _ base: TokenVersion, releaseLock: @escaping @Sendable () -> Void = {}) {
        self.coordinator = coordinator
        version = Locked(base)
        self.releaseLock = releaseLock
    }

    /// The version that the renewed token will replace: moves on with a token that is saved on the way.
    var base: TokenVersion {
        get { version.withLock { $0 } }
        set { version.withLock { $0 = newValue } }
    }

    var isOver: Bool { end.withLock { $0 } }

    func finish() {
        end.withLock { $0 = true }
    }
}

/// A request of a token's renewal needs another token, whose renewal needs the first.
struct RenewalCycleError: Error, CustomStringConvertible {
    var description: String { "its renewal waits for one that waits for it" }
}

/// Which renewals wait for which others. There is never a circle among them.
struct RenewalWaits {
    private var waits: [ObjectIdentifier: [ObjectIdentifier]] = [:]

    var isEmpty: Bool { waits.isEmpty }

    /// - Returns: false, with nothing changed, if it would close a circle.
    mutating func begin(_ waiting: [ObjectIdentifier], _ target: ObjectIdentifier) -> Bool {
        guard reachable(from: target).isDisjoint(with: waiting) else { return false }
        for one in waiting { waits[one, default: []].append(target) }
        return true
    }

    mutating func end(_ waiting: [ObjectIdentifier], _ target: ObjectIdentifier) {
        for one in waiting {
            if let index = waits[one]?.firstIndex(of: target) { waits[one]?.remove(at: index) }
            if waits[one]?.isEmpty == true { waits[one] = nil }
        }
    }

    private func reachable(from start: ObjectIdentifier) -> Set<ObjectIdentifier> {
        var reached: Set = [start]
        var next = [start]
        while let one = next.popLast() {
            for other in waits[one] ?? [] where reached.insert(other).inserted { next.append(other) }
        }
        return reached
    }
}

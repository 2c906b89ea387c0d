import NevodSupport
import Testing

@testable import NevodStorage

/// Runs every sequence of a given number of steps. Each step is a separate process, so only the two stores keep state.
struct LayeredStorageSearchTests {
    enum Step: Hashable, Sendable {
        case client(Operation, Condition)
        /// Another process changes the remote store.
        case otherLogin, otherLogout
    }

    enum Operation: Hashable, CaseIterable, Sendable {
        case read, login, logout, renew
    }

    enum Condition: Hashable, Sendable {
        case remote(FaultyStorage.Fault)
        /// The process ends after that number of calls to the two stores.
        case killed(Int)
    }

    private static let conditions: [Condition] =
        [
            .remote(.none), .remote(.away), .remote(.refuses), .remote(.arrivesUnheard), .remote(.arrivesThenAway),
            .remote(.goesAway), .remote(.loses), .remote(.arrivesLate),
        ]
        + (1...4).map(Condition.killed)

    private static let steps: [Step] =
        Operation.allCases.flatMap { operation in conditions.map { .client(operation, $0) } } + [.otherLogin, .otherLogout]

    private static let reads: [Step] = conditions.map { .client(.read, $0) }

    @Test(arguments: [nil, 1])
    func `No cleared token returns, no confirmed one is lost`(remote: Int?) async throws {
        var states: [LayeredWorld: [Step]] = [LayeredWorld(remote: remote): []]
        var count = 0
        for depth in 1...5 {
            var next: [LayeredWorld: [Step]] = [:]
            for (state, path) in states {
                // The state after the last step is checked by reading; shorter sequences end with every other step.
                for step in depth < 5 ? Self.steps : Self.reads {
                    var world = state
                    count += 1
                    if let problem = await world.take(step) {
                        Issue.record("\(path + [step]): \(problem)")
                        return
                    }
                    if depth < 5, next[world] == nil { next[world] = path + [step] }
                }
            }
            states = next
        }
        #expect(count > 20_000)
    }
}

/// The two stores between two steps, and their expected state. A token is a number, which is issued once.
struct LayeredWorld: Hashable {
    typealias Step = LayeredStorageSearchTests.Step

    private var remote: Int?
    private var local: [UInt8]?
    private var issued: Int
    /// The login that a token comes from.
    private var sessions: [Int: Int] = [:]
    /// The sessions that must never appear in the remote store again.
    private var cleared: Set<Int> = []
    /// The sessions that must never be read here again.
    private var loggedOut: Set<Int> = []
    /// The tokens of the remote store that are known here.
    private var known: Set<Int> = []
    /// The stored value, if the client can know it; otherwise nil.
    private var view: Int??
    /// Whether a token was cleared before the remote store was ever seen.
    private var hasClearedUnseen = false
    private var hasSeenRemote = false
    /// Whether, since both stores held the same, another process has changed the remote store, or a write to it had an unknown
    /// outcome.
    private var isDisturbed: Bool

    init(remote: Int?) {
        self.remote = remote
        issued = remote ?? 0
        isDisturbed = remote != nil
        if let remote { sessions[remote] = remote }
    }

    private mutating func issue(session: Int? = nil) -> Int {
        issued += 1
        sessions[issued] = session ?? issued
        return issued
    }

    private static func bytes(_ token: Int?) -> [UInt8]? { token.map { [UInt8($0)] } }

    private func isCleared(_ token: Int, in sessions: Set<Int>) -> Bool {
        self.sessions[token].map(sessions.contains) ?? false
    }

    private mutating func clear(_ token: Int?, here: Bool) {
        guard let token, let session = sessions[token] else { return }
        cleared.insert(session)
        if here { loggedOut.insert(session) }
    }

    /// - Returns: the problem; nil if there is none.
    mutating func take(_ step: Step) async -> String? {
        switch step {
        case .otherLogin:
            remote = issue()
            isDisturbed = true
        case .otherLogout:
            clear(remote, here: false)
            remote = nil
            isDisturbed = true
        case .client(let operation, let condition):
            if let problem = await take(operation, condition) { return problem }
        }
        forget()
        return nil
    }

    private enum Result {
        case value(Int?)
        case done(Bool)
        case failed
        case unheard
    }

    private mutating func take(
        _ operation: LayeredStorageSearchTests.Operation, _ condition: LayeredStorageSearchTests.Condition
    ) async -> String? {
        let (before, hadCopy) = (remote, local != nil)
        let (life, fault): (FaultyStorage.Life?, FaultyStorage.Fault) =
            switch condition {
            case .killed(let calls): (FaultyStorage.Life(calls), .none)
            case .remote(let fault): (nil, fault)
            }
        let stores = (
            remote: FaultyStorage(Self.bytes(remote), fault, life: life), local: FaultyStorage(local, life: life)
        )
        let storage = LayeredStorage(remote: stores.remote, local: stores.local)
        let expected = view ?? nil
        let token = operation == .login ? issue() : operation == .renew ? issue(session: expected.flatMap { sessions[$0] }) : 0
        var result: Result
        do {
            switch operation {
            case .read: result = .value(try await storage.data(for: "token").map { Int($0[0]) })
            case .login:
                try await storage.set(Self.bytes(token), for: "token")
                result = .done(true)
            case .logout:
                try await storage.remove(for: "token")
                result = .done(true)
            case .renew:
                result = .done(
                    try await storage.replace(Self.bytes(expected), with: Self.bytes(token), for: "token"))
            }
        } catch {
            result = .failed
        }
        remote = stores.remote.values["token"].map { Int($0[0]) }
        local = stores.local.values["token"]
        // The result of a terminated process is unknown.
        if life != nil { result = .unheard }
        return judge(operation, condition, result, before, token, hadCopy)
    }

    private mutating func judge(
        _ operation: LayeredStorageSearchTests.Operation, _ condition: LayeredStorageSearchTests.Condition, _ result: Result,
        _ before: Int?, _ token: Int, _ hadCopy: Bool
    ) -> String? {
        let isAway = condition == .remote(.away)
        let isUp = condition == .remote(.none)
        if !isAway, let before {
            known.insert(before)
            hasSeenRemote = true
        }
        if remote != before {
            if let remote, isCleared(remote, in: cleared) { return "\(remote) came back to the remote store" }
            let isReplay = operation == .read || operation == .renew
            if isReplay, let before, !known.contains(before), !hasClearedUnseen { return "\(before) was lost" }
            if isReplay, isAway { return "the remote store is away" }
            if remote == nil { clear(before, here: operation == .logout) }
        }
        defer {
            if token != 0 {
                known.insert(token)
                hasSeenRemote = true
            }
            if isUp, case .failed = result {} else if isUp { isDisturbed = false }
            if [.remote(.arrivesThenAway), .remote(.goesAway), .remote(.loses)].contains(condition) { isDisturbed = true }
        }
        switch result {
        case .failed:
            guard !hadCopy && (operation == .read || operation == .renew) else { return "an error" }
        case .unheard:
            view = .none
            isDisturbed = true
        case .value(let value):
            if let value, isCleared(value, in: loggedOut) { return "\(value) was read after its logout" }
            if isUp, value != remote { return "read \(String(describing: value)) of \(String(describing: remote))" }
            if isAway, let view, value != view { return "the local copy is \(String(describing: value))" }
            if isUp, !isDisturbed, let view, value != view { return "\(String(describing: view)) was lost" }
            view = .some(value)
        case .done(let isDone):
            guard isDone else {
                if isUp, view != .none, !isDisturbed { return "not replaced" }
                view = .none
                return nil
            }
            if operation == .logout {
                if isAway, view == .none || !hasSeenRemote { hasClearedUnseen = true }
                clear(view ?? nil, here: true)
                if !isAway { clear(before, here: true) }
            }
            view = .some(operation == .logout ? nil : token)
            if isUp, remote != (view ?? nil) { return "\(token) has not arrived" }
        }
        return nil
    }

    /// Forgets tokens that are in neither store, so that more states are equal.
    private mutating func forget() {
        let pending = local.flatMap { try? LayeredCopy(Secret(copying: $0), for: "token").value }
        let rest = Set([remote, view ?? nil, pending?.withUnsafeBytes { Int($0[0]) }].compactMap(\.self))
        sessions = sessions.filter { rest.contains($0.key) }
        known.formIntersection(rest)
        cleared.formIntersection(sessions.values)
        loggedOut.formIntersection(sessions.values)
    }
}

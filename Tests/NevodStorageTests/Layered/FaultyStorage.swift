import NevodStorage
import NevodSupport

/// A store in memory that fails in a given way.
final class FaultyStorage: CompareAndSwapStorage {
    enum Fault: Hashable, Sendable {
        case none
        /// Reads and writes fail.
        case away
        /// Writes are rejected because the store is full.
        case refuses
        /// Writes are lost, and return an error.
        case loses
        /// Writes return an error, but take effect after the next read.
        case arrivesLate
        /// Writes take effect, but return an error.
        case arrivesUnheard
        /// The first write takes effect; the store is unreachable from then on.
        case arrivesThenAway
        /// The store is unreachable from the first write on, which has no effect.
        case goesAway
    }

    struct Failure: Error {}

    private typealias Change = @Sendable ([UInt8]?) -> [UInt8]??

    /// After this number of calls, shared by all stores of a process, they fail.
    final class Life: Sendable {
        private let rest: Locked<Int>
        init(_ calls: Int) { rest = Locked(calls) }

        func spend() throws {
            let isOver = rest.withLock { rest in
                rest -= 1
                return rest < 0
            }
            if isOver { throw Failure() }
        }
    }

    private struct State {
        var values: [StorageKey: [UInt8]]
        var fault: Fault
        var reads = 0
        /// The writes in flight.
        var late: (key: StorageKey, change: Change)?
    }

    private let state: Locked<State>
    private let life: Life?
    private let observers = StorageObservers()

    init(_ value: [UInt8]? = nil, for key: StorageKey = "token", _ fault: Fault = .none, life: Life? = nil) {
        state = Locked(State(values: value.map { [key: $0] } ?? [:], fault: fault))
        self.life = life
    }

    var fault: Fault {
        get { state.withLock { $0.fault } }
        set { state.withLock { $0.fault = newValue } }
    }

    var reads: Int { state.withLock { $0.reads } }
    var values: [StorageKey: [UInt8]] { state.withLock { $0.values } }

    /// Writes as another process would, without the configured fault.
    func change(_ value: [UInt8]?, for key: StorageKey = "token") {
        state.withLock { $0.values[key] = value }
        observers.notify(key)
    }

    func data(for key: StorageKey) throws -> [UInt8]? {
        try life?.spend()
        return try state.withLock { state in
            guard state.fault != .away else { throw Failure() }
            state.reads += 1
            defer {
                if let (key, change) = state.late, let value = change(state.values[key]) { state.values[key] = value }
                state.late = nil
            }
            return state.values[key]
        }
    }

    func set(_ value: [UInt8]?, for key: StorageKey) throws {
        _ = try change(for: key) { _ in .some(value) }
    }

    func remove(for key: StorageKey) throws { try set(nil, for: key) }

    func replace(_ expected: [UInt8]?, with value: [UInt8]?, for key: StorageKey) throws -> Bool {
        try change(for: key) { $0 == expected ? .some(value) : .none }
    }

    private func change(for key: StorageKey, _ body: @escaping Change) throws -> Bool {
        try life?.spend()
        return try state.withLock { state in
            let fault = state.fault
            switch fault {
            case .none, .arrivesUnheard: break
            case .away, .loses: throw Failure()
            case .refuses: throw StorageError(.full, "\(key)", problem: "has no room")
            case .arrivesLate:
                state.late = (key, body)
                throw Failure()
            case .arrivesThenAway: state.fault = .away
            case .goesAway:
                state.fault = .away
                throw Failure()
            }
            let value = body(state.values[key])
            if let value { state.values[key] = value }
            guard fault == .none else { throw Failure() }
            return value != nil
        }
    }
}

extension FaultyStorage: ObservableStorage {
    func changes() -> StorageChanges { observers.changes() }
}

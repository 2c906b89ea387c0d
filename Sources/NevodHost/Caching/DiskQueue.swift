internal import NevodStorage
internal import NevodSupport

/// The changes of a cache's file, made one after another while requests go on. Its size is bounded: when it is full, new responses are
/// not stored.
final class DiskQueue: Sendable {
    private struct Item: Sendable {
        var operation: DiskOperation
        var done: CheckedContinuation<StorageError?, Never>?
    }

    private struct State {
        var items: [Item] = []
        var cost = 0
        var isRunning = false
        /// How many operations wait for each resource, those under way included.
        var resources: [KeyedDigest: Int] = [:]
        var removals = 0
        /// Uses that are written together, or with the next change.
        var touched: Set<Int> = []
    }

    private static let countLimit = 256
    private static let costLimit = 16 << 20
    private static let touchedLimit = 64

    private let file: CacheFile
    private let entryByteLimit: Int
    private let report: @Sendable (StorageError) -> Void
    private let state = Locked(State())

    /// - Parameter report: called with the error of a change that nothing waits for.
    init(_ file: CacheFile, entryByteLimit: Int, report: @escaping @Sendable (StorageError) -> Void) {
        self.file = file
        self.entryByteLimit = entryByteLimit
        self.report = report
    }

    func add(_ operation: DiskOperation) {
        enqueue(Item(operation: operation))
    }

    /// Returns when the change is in the file, or has failed.
    func perform(_ operation: DiskOperation) async -> StorageError? {
        await withCheckedContinuation { enqueue(Item(operation: operation, done: $0)) }
    }

    /// Returns when the file has all changes of a resource that were added before.
    func settle(_ resource: KeyedDigest) async {
        let isSettled = state.withLock { $0.resources[resource] == nil && $0.removals == 0 }
        if !isSettled { _ = await perform(.nothing) }
    }

    /// Notes that a record was used.
    func touch(_ id: Int) {
        let isFull = state.withLock { state in
            state.touched.insert(id)
            return state.touched.count >= Self.touchedLimit
        }
        if isFull { add(.nothing) }
    }

    private func enqueue(_ item: Item) {
        let mustRun = state.withLock { state in
            var item = item
            if case .replace(var replacement) = item.operation,
                state.items.count >= Self.countLimit || state.cost + item.operation.cost > Self.costLimit
            {
                // The response that it replaces is removed in any case.
                replacement.new = nil
                item.operation = .replace(replacement)
            }
            for resource in item.operation.resources { state.resources[resource, default: 0] += 1 }
            if case .removeAll = item.operation { state.removals += 1 }
            state.cost += item.operation.cost
            state.items.append(item)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustRun { Task { await run() } }
    }

    private func run() async {
        while case let batch = next(), !batch.isEmpty {
            var error = await write(batch.map(\.operation))
            if error != nil {
                // A response that can't be stored must not keep others from being removed.
                let removals = batch.map(\.operation).filter(\.isRemoval)
                if !removals.isEmpty, removals.count < batch.count { error = await write(removals) }
            }
            if let error, !batch.contains(where: { $0.done != nil && $0.operation.isRemoval }) { report(error) }
            finish(batch, error)
        }
    }

    /// The next changes that fit into one transaction; none at the end.
    private func next() -> [Item] {
        state.withLock { state in
            let count =
                if case .removeAll? = state.items.first?.operation { 1 } else {
                    state.items.firstIndex { if case .removeAll = $0.operation { true } else { false } } ?? state.items.count
                }
            var batch = Array(state.items.prefix(count))
            state.items.removeFirst(count)
            if batch.isEmpty {
                state.isRunning = false
            } else if !state.touched.isEmpty {
                batch += state.touched.map { Item(operation: .touch($0)) }
                state.touched = []
            }
            return batch
        }
    }

    private func finish(_ batch: [Item], _ error: StorageError?) {
        state.withLock { state in
            for item in batch {
                state.cost -= item.operation.cost
                if case .removeAll = item.operation { state.removals -= 1 }
                for resource in item.operation.resources {
                    let count = state.resources[resource, default: 1]
                    state.resources[resource] = count > 1 ? count - 1 : nil
                }
            }
        }
        for item in batch { item.done?.resume(returning: error) }
    }

    private func write(_ operations: [DiskOperation]) async -> StorageError? {
        let entryByteLimit = entryByteLimit
        do throws(StorageError) {
            if case .removeAll? = operations.first {
                try await file.removeAll()
                return nil
            }
            let changes = operations.filter { if case .nothing = $0 { false } else { true } }
            guard !changes.isEmpty else { return nil }
            var invalidated: [[UInt8]] = []
            for case .invalidate(let resources) in changes { invalidated += resources.map(\.bytes) }
            try await file.write(invalidating: invalidated) { (records) throws(StorageError) in
                for change in changes { try change.apply(to: &records, entryByteLimit: entryByteLimit) }
            }
            return nil
        } catch {
            return error
        }
    }
}

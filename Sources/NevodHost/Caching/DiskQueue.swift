internal import NevodStorage
internal import NevodSupport

/// Applies changes to a cache's file one after another, while requests continue. The queue is bounded: when it is full, new
/// responses are not stored.
final class DiskQueue: Sendable {
    private struct Item: Sendable {
        var operation: DiskOperation
        var done: CheckedContinuation<StorageError?, Never>?
    }

    private struct State {
        var items: [Item] = []
        var cost = 0
        var isRunning = false
        /// The number of operations for each resource that are waiting or under way.
        var resources: [KeyedDigest: Int] = [:]
        var removals = 0
        /// The records used since the last write. Their uses are written together, or with the next change.
        var touched: Set<Int> = []
    }

    private static let countLimit = 256
    private static let costLimit = 16 << 20
    private static let touchedLimit = 64

    private let file: CacheFile
    private let entryByteLimit: Int
    private let report: @Sendable (StorageError) -> Void
    private let state = Locked(State())

    /// - Parameter report: called with the error of a change that no caller waits for.
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

    /// Returns when all earlier changes of a resource are in the file.
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
                // Gives up the new response, but still removes the one that it replaces.
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

    /// Takes the next changes that fit into one transaction; none if the queue is empty.
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

/// A change of a cache's file that waits for its turn.
enum DiskOperation: Sendable {
    /// The outcome of a request.
    struct Replacement: Sendable {
        let key: CacheKey
        /// The state of the file when the request began.
        let moment: CacheMoment
        /// The record that the request selected; nil if there was none.
        let old: Int?
        var new: New?

        struct New: Sendable {
            let response: StoredResponse
            let vary: VaryKey
        }
    }

    case replace(Replacement)
    case touch(Int)
    case remove([Int64])
    case invalidate([KeyedDigest])
    case removeAll
    /// Changes nothing; lets a caller wait for the changes before it.
    case nothing

    /// The memory that the change takes, in bytes.
    var cost: Int {
        if case .replace(let replacement) = self { replacement.new?.response.cost ?? 0 } else { 0 }
    }

    /// The resources whose records it changes.
    var resources: [KeyedDigest] {
        switch self {
        case .replace(let replacement): [replacement.key.resource]
        case .invalidate(let resources): resources
        case .touch, .remove, .removeAll, .nothing: []
        }
    }

    /// Whether a response might be used wrongly without this change.
    var isRemoval: Bool {
        switch self {
        case .invalidate, .removeAll: true
        case .replace, .touch, .remove, .nothing: false
        }
    }

    func apply(to records: inout CacheRecords, entryByteLimit: Int) throws(StorageError) {
        switch self {
        case .replace(let replacement): try replacement.apply(to: &records, entryByteLimit: entryByteLimit)
        case .touch(let id): try records.touch(Int64(id))
        case .remove(let ids): for id in ids { try records.remove(id) }
        case .invalidate(let resources): for resource in resources { try records.invalidate(resource.bytes) }
        case .removeAll, .nothing: break
        }
    }
}

extension DiskOperation.Replacement {
    /// The most variants that are kept of a response, as in memory.
    private static let maxVariants = 16

    fileprivate func apply(to records: inout CacheRecords, entryByteLimit: Int) throws(StorageError) {
        guard try !records.hasChanged(key.resource.bytes, since: moment) else { return }
        if let old { try records.remove(Int64(old)) }
        guard let new else { return }
        for head in try records.heads(for: key) where head.value.vary == new.vary {
            // The older of two concurrent responses may arrive last.
            guard head.value.response([]).date <= new.response.date else { return }
            try records.remove(head.id)
        }
        guard new.response.cost <= entryByteLimit else { return }
        let part = new.response.isPrivate ? key.user : key.partition
        let others = try records.find(key.resource.bytes, part.bytes)
        for oldest in others.dropFirst(Self.maxVariants - 1) { try records.remove(oldest.id) }
        try records.insert(StoredHead(new.response, new.vary).encoded, new.response.body, key.resource.bytes, part.bytes)
    }
}

extension CacheRecords {
    struct Head {
        let id: Int64
        let part: KeyedDigest
        let value: StoredHead
    }

    /// The responses that the request's user may get.
    mutating func heads(for key: CacheKey) throws(StorageError) -> [Head] {
        var heads: [Head] = []
        for found in try find(key.resource.bytes, key.user.bytes) {
            if let head = StoredHead(found.head) { heads.append(Head(id: found.id, part: key.user, value: head)) }
        }
        // A private response under the partition's own key is for requests without an owner and without other lines, so not for
        // this user.
        guard key.user != key.partition else { return heads }
        for found in try find(key.resource.bytes, key.partition.bytes) {
            guard let head = StoredHead(found.head), !head.response([]).isPrivate else { continue }
            heads.append(Head(id: found.id, part: key.partition, value: head))
        }
        return heads
    }
}

internal import NevodStorage

/// A change of a cache's file that waits for its turn.
enum DiskOperation: Sendable {
    /// The outcome of a request.
    struct Replacement: Sendable {
        let key: CacheKey
        /// The file when the request began.
        let moment: CacheMoment
        /// The record that the request started with.
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
    /// Changes nothing: for callers that wait for what stands before it.
    case nothing

    /// The memory that it takes, in bytes.
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

    /// Whether a response might be used wrongly if it were not done.
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
    /// A response has this many variants at most, as in memory.
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
        // A private response in the partition belongs to a request without other lines.
        guard key.user != key.partition else { return heads }
        for found in try find(key.resource.bytes, key.partition.bytes) {
            guard let head = StoredHead(found.head), !head.response([]).isPrivate else { continue }
            heads.append(Head(id: found.id, part: key.partition, value: head))
        }
        return heads
    }
}

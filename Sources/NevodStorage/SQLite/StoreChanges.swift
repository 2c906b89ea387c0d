internal import NevodSupport

/// The changes of one transaction. Used on the store's thread.
struct StoreChanges {
    var register: SQLiteRegister
    private let counters: ChangeCounters
    /// The changed keys, with the marks under which their changes have begun.
    private(set) var marks: [(StorageKey, UInt64)] = []
    private(set) var hasRemoved = false

    init(_ register: SQLiteRegister, _ counters: ChangeCounters) {
        self.register = register
        self.counters = counters
    }

    /// Stores a value; nil removes it.
    mutating func set(_ secret: Secret?, for key: StorageKey) throws(StorageError) {
        marks.append((key, counters.begin(key)))
        try register.set(secret, for: key)
        if secret == nil { hasRemoved = true }
    }
}

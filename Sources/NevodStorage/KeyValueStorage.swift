public import NevodSupport

/// Stores small values under keys; the base of a `TokenStorage`. (A `TokenStorage`, in contrast, decodes tokens, and knows which
/// of two tokens is newer.)
///
/// Every requirement is `async` and may throw, but methods that do neither conform as well. A write that has returned is durable:
/// a crash at any instant leaves the old value or the new one. Many tasks call the methods at once.
///
/// ```swift
/// actor Memory: KeyValueStorage {
///     private var values: [StorageKey: [UInt8]] = [:]
///
///     func data(for key: StorageKey) -> [UInt8]? { values[key] }
///     func set(_ value: [UInt8]?, for key: StorageKey) { values[key] = value }
///     func remove(for key: StorageKey) { values[key] = nil }
/// }
/// ```
public protocol KeyValueStorage: Sendable {
    /// The type of its values: `[UInt8]`, or Foundation's `Data`.
    associatedtype Value: RangeReplaceableCollection<UInt8> & Sendable = [UInt8]

    /// Returns nil if nothing is stored under the key. A value that can't be read is an error, because the remedy differs: repair
    /// the store, instead of logging in.
    func string(for key: StorageKey) async throws -> String?
    /// Returns nil if nothing is stored under the key; an empty value is a value.
    func data(for key: StorageKey) async throws -> Value?
    /// Stores a value; nil removes it.
    func set(_ value: String?, for key: StorageKey) async throws
    /// Stores a value; nil removes it.
    func set(_ value: Value?, for key: StorageKey) async throws
    /// Removes the value, if there is one.
    func remove(for key: StorageKey) async throws
}

extension KeyValueStorage {
    /// The value as UTF-8.
    public func string(for key: StorageKey) async throws -> String? {
        try await data(for: key).map { String(decoding: $0, as: UTF8.self) }
    }

    public func set(_ value: String?, for key: StorageKey) async throws {
        try await set(value.map { Value($0.utf8) }, for: key)
    }
}

/// A storage that can replace a value if it is still the expected one, atomically with respect to all tasks, threads and
/// processes that use the same storage.
public protocol CompareAndSwapStorage: KeyValueStorage {
    /// - Parameters:
    ///   - expected: The expected value; nil if there should be none.
    ///   - value: The new value; nil removes.
    ///   - key: The key of the value.
    /// - Returns: whether the stored value was the expected one, and was replaced.
    func replace(_ expected: Value?, with value: Value?, for key: StorageKey) async throws -> Bool
}

/// Repeats a compare-and-swap while other writers come first.
///
/// - Parameter attempt: Returns nil if the value was changed meanwhile.
/// - Throws: ``StorageError`` of code `busy` after a thousand attempts; errors of an attempt.
package func retryingCompareAndSwap<Outcome>(
    of key: StorageKey, _ attempt: () async throws -> Outcome?
) async throws -> Outcome {
    for _ in 0..<1000 {
        if let outcome = try await attempt() { return outcome }
    }
    throw StorageError.contention(key)
}

extension StorageError {
    static func contention(_ key: StorageKey) -> StorageError {
        StorageError(.busy, "\(key)", problem: "keeps being changed by others", remedy: "try again")
    }
}

/// A storage that numbers the versions of each value, so that a reader can tell an older value, such as one from a backup, from a
/// newer one. (``CompareAndSwapStorage``, in contrast, tells whether two values are equal.)
public protocol VersionedStorage: KeyValueStorage {
    /// The value (nil if nothing is stored) and its version. Each change of the value raises the version, even a removal. Nothing
    /// lowers it.
    func versionedSecret(for key: StorageKey) async throws -> (secret: Secret?, version: Int64)
}

/// A storage that reports changes of its values, so that callers need not poll.
public protocol ObservableStorage: KeyValueStorage {
    /// The sequence of changed keys, such as ``StorageChanges``.
    associatedtype Changes: AsyncSequence<StorageKey, Never> & Sendable

    /// The key of each changed value, whichever task or process changed it.
    func changes() async -> Changes
}

/// A storage that several processes share, with a lock that lets only one of them renew a key's value at once.
///
/// A server that rotates its tokens treats the second use of a token as theft, and ends the session. Two processes that refresh
/// the same token at once would cause that. Under this lock, the second process finds the token that the first has stored.
public protocol RenewalLockingStorage: KeyValueStorage {
    /// Runs `body` under the key's lock, which excludes other tasks and other processes. The system or the server holds the lock,
    /// and releases it when its holder dies.
    ///
    /// - Throws: an error if the lock can't be taken, such as ``StorageError`` of code `busy`; `CancellationError`. The body
    ///   itself can't fail.
    func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws

    /// Checks that this process still holds a lock that it has taken. It is called before the request of a renewal is sent: a
    /// holder that was suspended for long must stop if it hasn't sent anything yet. The default does nothing, which suits a lock
    /// that can't be lost.
    ///
    /// - Throws: an error if another process holds the lock now, or may hold it.
    func confirmRenewalLock(for key: StorageKey) async throws
}

extension RenewalLockingStorage {
    public func confirmRenewalLock(for key: StorageKey) async throws {}
}

/// A storage that returns and takes its values as secrets, and leaves no unwiped copies in memory.
public protocol SecretKeepingStorage: CompareAndSwapStorage where Value == [UInt8] {
    /// Returns nil if nothing is stored under the key.
    func secret(for key: StorageKey) async throws -> Secret?
    /// Stores a secret; nil removes it.
    func set(_ secret: Secret?, for key: StorageKey) async throws
    /// Like ``CompareAndSwapStorage/replace(_:with:for:)``.
    func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool
}

extension SecretKeepingStorage {
    public func data(for key: StorageKey) async throws -> [UInt8]? {
        try await secret(for: key).map { $0.copied(as: [UInt8].self) }
    }

    public func set(_ value: [UInt8]?, for key: StorageKey) async throws {
        try await set(value.map { Secret(copying: $0) }, for: key)
    }

    public func remove(for key: StorageKey) async throws {
        try await set(nil as Secret?, for: key)
    }

    public func replace(_ expected: [UInt8]?, with value: [UInt8]?, for key: StorageKey) async throws -> Bool {
        try await replace(expected.map { Secret(copying: $0) }, with: value.map { Secret(copying: $0) }, for: key)
    }
}

extension Secret {
    package convenience init(wipingCopy bytes: some Collection<UInt8>) {
        var bytes = Array(bytes)
        self.init(copying: bytes)
        // Wipes the array if it is its last reference; otherwise copies it and wipes the copy.
        bytes.withUnsafeMutableBytes { $0.wipe() }
    }

    package func copied<Bytes: RangeReplaceableCollection<UInt8>>(as type: Bytes.Type) -> Bytes {
        withUnsafeBytes { Bytes($0) }
    }
}

internal import NevodSupport

/// Seals the values of any other storage, such as one of files, or an app's own.
///
/// ```swift
/// let files = try FileStorage(directory: "/var/lib/app/tokens")
/// let storage = try await SealingStorage(files, key: KeyFile(path: "/etc/app/tokens.key"))
/// ```
///
/// Each value is sealed with AES-256-GCM for its key and its version: one that was changed, or moved to another key, is refused with
/// ``StorageError`` of code `damaged`, which names the key. The sealing key is in the base too, wrapped by a key from the
/// ``StoreKeySource``. Keys are not hidden, and an earlier value of the same key that is put back opens: only ``SQLiteStorage`` and
/// `PostgreSQLStorage` notice that.
///
/// Compare-and-swap is atomic if the base's is. The base's renewal lock and its reports of changes are passed on. The base must not be
/// used for anything else under the same keys.
public final class SealingStorage: SecretKeepingStorage, RenewalLockingStorage, ObservableStorage {
    public typealias Value = [UInt8]

    private let base: AnyKeyValueStorage
    private let name: String
    private let keyring: StoreKeyring
    /// For a base without compare-and-swap.
    private let writing = AsyncLock()

    /// Opens the storage, or prepares a new one.
    ///
    /// - Parameters:
    ///   - base: stores the sealed values.
    ///   - source: wraps the sealing key. An existing storage opens only with the key that it was prepared with.
    /// - Throws: ``StorageError``: `permissions` if the key is another storage's; errors of the base and of the source.
    public init(_ base: some KeyValueStorage, key source: any StoreKeySource) async throws {
        let storage = AnyKeyValueStorage(base)
        self.base = storage
        name = "\(type(of: base))"
        keyring = try await StoreKeyring(of: name, in: StoredSealingKey(base: storage), sources: [source])
    }

    public func secret(for key: StorageKey) async throws -> Secret? {
        try await read(key).secret
    }

    public func set(_ secret: Secret?, for key: StorageKey) async throws {
        try check(key)
        // A value that doesn't open can be replaced, and may have any version.
        let version = try await base.read(key).flatMap(SealedValue.init)?.version ?? 0
        let sealed = try await seal(secret, key, after: version)
        try await writing.withLock { try await base.write(key, sealed) }
    }

    public func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        for _ in 0..<1000 {
            let (raw, current, version) = try await read(key)
            guard current == expected else { return false }
            let sealed = try await seal(secret, key, after: version)
            // An equal value, sealed anew, may have replaced the one that was read.
            if try await writing.withLock({ try await base.replace(key, raw, sealed) }) { return true }
        }
        throw StorageError(.busy, "\(key)", problem: "is changed all the time by others", remedy: "try again")
    }

    /// The base's changes; none if it reports none.
    public func changes() async -> StorageChanges {
        await base.changes?() ?? .none
    }

    public func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        guard let withLock = base.withRenewalLock else { return await body() }
        try await withLock(key, body)
    }

    public func confirmRenewalLock(for key: StorageKey) async throws {
        try await base.confirmRenewalLock?(key)
    }

    private func read(_ key: StorageKey) async throws -> (raw: Secret?, secret: Secret?, version: Int64) {
        try check(key)
        guard let raw = try await base.read(key) else { return (nil, nil, 0) }
        guard let value = SealedValue(raw) else { throw OpenedKey.unopened(key, in: name) }
        let name = name
        let secret = try await keyring.withCurrentKey { opened in
            try opened.open(SealedEntry(version: value.version, sealed: value.sealed), key, in: name)
        }
        return (raw, secret, value.version)
    }

    private func seal(_ secret: Secret?, _ key: StorageKey, after version: Int64) async throws -> Secret? {
        guard let secret else { return nil }
        // A version that nothing counts up to begins anew: it was not written by this type.
        let next = (0..<Int64.max).contains(version) ? version + 1 : 1
        return try await keyring.withCurrentKey { opened in
            SealedValue(version: next, sealed: opened.seal(secret, key, next)).encoded
        }
    }

    private func check(_ key: StorageKey) throws(StorageError) {
        guard key == StoredSealingKey.key else { return }
        throw StorageError(.other, "\(key)", problem: "is the key of the sealing key itself", remedy: "use another key")
    }
}

/// A value as the base stores it: `version (8 bytes) | sealed`.
private struct SealedValue {
    let version: Int64
    let sealed: [UInt8]

    init(version: Int64, sealed: [UInt8]) {
        self.version = version
        self.sealed = sealed
    }

    init?(_ raw: Secret) {
        let bytes = raw.copied(as: [UInt8].self)
        guard bytes.count > 8 else { return nil }
        version = Int64(bitPattern: bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        sealed = Array(bytes[8...])
    }

    var encoded: Secret { Secret(wipingCopy: withUnsafeBytes(of: version.bigEndian) { Array($0) } + sealed) }
}

internal import NevodSupport

/// Seals the values of any other storage, such as a `FileStorage`, or an app's own.
///
/// ```swift
/// let files = try FileStorage(directory: "/var/lib/app/tokens")
/// let storage = try await SealingStorage(files, key: KeyFile(path: "/etc/app/tokens.key"))
/// ```
///
/// Each value is sealed with AES-256-GCM for its key and its version. A value that was changed, or moved to another key, is
/// refused with a ``StorageError`` of code `damaged`, which names the key. The sealing key is in the base too, wrapped by a key
/// from the ``StoreKeySource``. Keys are not hidden. An earlier value of the same key opens if it is put back: only
/// ``SQLiteStorage`` and `PostgreSQLStorage` notice that.
///
/// Compare-and-swap is atomic if the base's is. The base's renewal lock and its reports of changes are passed on. Don't use the
/// base for anything else under the same keys.
public final class SealingStorage: SecretKeepingStorage, RenewalLockingStorage, ObservableStorage {
    public typealias Value = [UInt8]

    private let base: AnyKeyValueStorage
    private let name: String
    private let keyring: StoreKeyring
    /// Serializes writes, for a base without compare-and-swap.
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
        // A value that doesn't open can still be replaced. It may have any version.
        let version = try await base.read(key).flatMap(SealedValue.init)?.version ?? 0
        let sealed = try await seal(secret, key, after: version)
        try await writing.withLock { try await base.write(key, sealed) }
    }

    public func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        try await retryingCompareAndSwap(of: key) {
            let (raw, current, version) = try await read(key)
            guard current == expected else { return false }
            let sealed = try await seal(secret, key, after: version)
            // Another writer may have replaced the value with an equal one that was sealed again.
            return try await writing.withLock { try await base.replace(key, raw, sealed) } ? true : nil
        }
    }

    /// The base's changes; none if the base reports nothing.
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
        // A version that this type never writes is ignored, and versions start again from 1.
        let next = (0..<Int64.max).contains(version) ? version + 1 : 1
        return try await keyring.withCurrentKey { opened in
            SealedValue(version: next, sealed: opened.seal(secret, key, next)).encoded
        }
    }

    private func check(_ key: StorageKey) throws(StorageError) {
        guard key == StoredSealingKey.key else { return }
        throw StorageError(.other, "\(key)", problem: "is reserved for the sealing key", remedy: "use another key")
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
        version = Int64(bigEndianBytes: bytes[..<8])
        sealed = Array(bytes[8...])
    }

    var encoded: Secret { Secret(wipingCopy: version.bigEndianBytes + sealed) }
}

/// The wrapped key of a ``SealingStorage``, which is a value of its base: `nevod-sealing-1`, the store, the kind of the source,
/// the salt and the wrapped key, in hexadecimal, separated by spaces.
struct StoredSealingKey: SealedKeyKeeping {
    static let key: StorageKey = "nevod.sealing-key"
    private static let form = "nevod-sealing-1"

    let base: AnyKeyValueStorage

    func sealedKey() async throws -> (SealedKey, number: Int64)? {
        guard let secret = try await base.read(Self.key) else { return nil }
        let words = String(decoding: secret.copied(as: [UInt8].self), as: UTF8.self).split(separator: " ")
        let fields = words.dropFirst().compactMap { Self.bytes(String($0)) }
        guard words.count == 5, words[0] == Self.form, fields.count == 4, let store = StoreIdentifier(fields[0]) else {
            throw StorageError(
                .damaged, "\(Self.key)",
                problem: "is not a sealing key: it was changed, or the storage is used for something else",
                remedy: "restore it from a backup, or use an empty storage")
        }
        let kind = String(decoding: fields[1], as: UTF8.self)
        return (SealedKey(store: store, kind: kind, salt: fields[2], sealed: fields[3]), 1)
    }

    func addFirst(_ key: SealedKey) async throws {
        let fields = [key.store.bytes, Array(key.kind.utf8), key.salt, key.sealed].map { Hexadecimal.text($0) }
        let text = ([Self.form] + fields).joined(separator: " ")
        _ = try await base.replace(Self.key, nil, Secret(text))
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { Hexadecimal.secret(UnsafeRawBufferPointer($0)) }?.copied(as: [UInt8].self)
    }
}

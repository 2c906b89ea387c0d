internal import COpenSSL
public import NevodSupport

/// The source of the key that wraps a sealed store's data key. A store records the kind of its source, and never opens with
/// another kind.
public protocol StoreKeySource: Sendable {
    /// The name of the kind, which the store records: `key-file` for ``KeyFile``. Lower-case letters, digits and hyphens.
    var kind: String { get }
    /// A description for people: `the key file /home/ada/.local/share/nevod-host/store.key`. Contains no secret.
    var description: String { get }

    /// Whether a new store could use this source now.
    func isAvailable() async -> Bool

    /// - Parameters:
    ///   - store: The store of the key. One source may have keys of several stores.
    ///   - salt: Random bytes of this store and this key.
    ///   - isNew: Whether the store is being created or given a new key. Only then may a source create a key. A source that keeps
    ///     several keys creates one for each salt.
    /// - Returns: 32 bytes, the same each time.
    /// - Throws: ``StorageError``, naming the source and the remedy.
    func key(for store: StoreIdentifier, salt: [UInt8], isNew: Bool) async throws -> Secret

    /// The highest number of the store's changes that was kept with its key; nil if there is none. It shows a store that an older
    /// copy has taken its place. The default returns nil.
    ///
    /// - Parameters:
    ///   - store: As for the key.
    ///   - salt: As for the key. A store that is given a new key is accepted as it is, so its count starts again.
    func count(of store: StoreIdentifier, salt: [UInt8]) async -> UInt64?

    /// Keeps a count with the key, unless a higher count is there. Called after each change of an ``SQLiteStorage``. A failure to
    /// keep the count is not an error, since the change has been made. The default keeps nothing.
    ///
    /// - Parameters:
    ///   - count: The number of changes of the store so far.
    ///   - store: As for the key.
    ///   - salt: As for the key.
    ///   - hasRemoved: Whether a value was removed. A slow source may keep the count only then.
    func keep(_ count: UInt64, of store: StoreIdentifier, salt: [UInt8], hasRemoved: Bool) async
}

extension StoreKeySource {
    public func count(of store: StoreIdentifier, salt: [UInt8]) async -> UInt64? { nil }
    public func keep(_ count: UInt64, of store: StoreIdentifier, salt: [UInt8], hasRemoved: Bool) async {}
}

/// Identifies a store among all stores that a source has keys for.
public struct StoreIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// 16 random bytes.
    package let bytes: [UInt8]

    /// The bytes in hexadecimal.
    public var description: String { Hexadecimal.text(bytes) }
}

extension StoreIdentifier {
    package static func random() -> StoreIdentifier {
        var bytes = [UInt8](repeating: 0, count: 16)
        let isRandom = RAND_bytes(&bytes, Int32(bytes.count)) == 1
        precondition(isRandom, "OpenSSL has no random numbers")
        return StoreIdentifier(bytes: bytes)
    }

    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }
}

public import NevodSupport

/// Where the key comes from under which a sealed store keeps its data key. A store remembers the kind of the one that it was
/// made with, and never takes another in its place.
public protocol StoreKeySource: Sendable {
    /// As the store remembers it: ``KeyFile``'s is `key-file`. Lower-case letters, digits and hyphens.
    var kind: String { get }
    /// For people: `the key file /home/ada/.local/share/nevod-host/store.key`. Nothing secret.
    var description: String { get }

    /// Whether a new store could be made with it, here and now.
    func isAvailable() async -> Bool

    /// - Parameters:
    ///   - store: whose key it is; one source may have several.
    ///   - salt: random, of this store and this key.
    ///   - isNew: whether the store is being made, or given another key: only then may a source make one. A source that keeps
    ///     many makes one for each salt.
    /// - Returns: 32 bytes, the same each time.
    /// - Throws: ``StorageError``, naming the source and the way out.
    func key(for store: StoreIdentifier, salt: [UInt8], isNew: Bool) async throws -> Secret
}

/// Which store it is, among all that a source has keys for.
public struct StoreIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// 16 random bytes.
    package let bytes: [UInt8]

    /// In hexadecimal.
    public var description: String { Hexadecimal.text(bytes) }
}

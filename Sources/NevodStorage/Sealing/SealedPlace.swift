internal import NevodSupport

/// What a sealed value belongs to: a store and, in it, a name and a version. A ``SealingKey`` authenticates the place with the
/// value. So a value that was moved to another name's row, or to another store, does not open.
enum SealedPlace {
    /// A value of a store without a register: one in PostgreSQL, or in a ``SealingStorage``.
    static func value(of key: StorageKey, _ version: Int64, in store: StoreIdentifier) -> [UInt8] {
        store.bytes + version.bigEndianBytes + Array(key.rawValue.utf8)
    }

    /// A value of a store with a register.
    static func registered(_ key: StorageKey, _ version: UInt64, in store: StoreIdentifier) -> [UInt8] {
        registered("value", version, Array(key.rawValue.utf8), store)
    }

    /// A page of a store's register.
    static func page(_ page: RegisterPage.Number, _ version: UInt64, in store: StoreIdentifier) -> [UInt8] {
        registered("page", version, UInt64(page.index).bigEndianBytes, store)
    }

    private static func registered(
        _ kind: String, _ version: UInt64, _ rest: [UInt8], _ store: StoreIdentifier
    ) -> [UInt8] {
        store.bytes + Array("nevod registered \(kind):".utf8) + version.bigEndianBytes + rest
    }

    /// A store's data key, wrapped by the key of a source.
    ///
    /// - Parameter kind: ``StoreKeySource/kind`` of the source.
    static func dataKey(wrappedBy kind: String, of store: StoreIdentifier) -> [UInt8] {
        store.bytes + Array("nevod data key by \(kind)".utf8)
    }

    /// The head or the body of a cached response.
    ///
    /// - Parameters:
    ///   - resource: the digest of the resource.
    ///   - users: the digest of the users who may get the response.
    static func cached(
        _ part: String, _ id: Int64, _ resource: [UInt8], _ users: [UInt8], in store: StoreIdentifier
    ) -> [UInt8] {
        store.bytes + Array("nevod cached \(part):".utf8) + id.bigEndianBytes + resource + users
    }
}

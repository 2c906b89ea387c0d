internal import NevodSupport

/// A store's data key, wrapped by the key of a source, as the store keeps it.
package struct SealedKey: Sendable {
    package let store: StoreIdentifier
    /// ``StoreKeySource/kind`` of the source.
    package let kind: String
    package let salt: [UInt8]
    package let sealed: [UInt8]

    package init(store: StoreIdentifier, kind: String, salt: [UInt8], sealed: [UInt8]) {
        self.store = store
        self.kind = kind
        self.salt = salt
        self.sealed = sealed
    }
}

/// The part of a store that keeps its wrapped data key.
package protocol SealedKeyKeeping: Sendable {
    /// Returns nil if the store is new.
    func sealedKey() async throws -> (SealedKey, number: Int64)?
    /// Saves the first key, number 1. Has no effect if another process has already saved one.
    func addFirst(_ key: SealedKey) async throws
}

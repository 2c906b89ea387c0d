/// The part of a store that keeps its wrapped data key.
package protocol SealedKeyKeeping: Sendable {
    /// Returns nil if the store is new.
    func sealedKey() async throws -> (SealedKey, number: Int64)?
    /// Saves the first key, number 1. Has no effect if another process has saved one.
    func addFirst(_ key: SealedKey) async throws
}

/// A stored entry, still sealed.
package struct SealedEntry: Sendable {
    /// 0 if the key has never had a value.
    package var version: Int64 = 0
    /// nil if the value was removed.
    package var sealed: [UInt8]?
    /// The number of the data key that seals all values now.
    package var keyNumber: Int64 = 0

    package init(version: Int64 = 0, sealed: [UInt8]? = nil, keyNumber: Int64 = 0) {
        self.version = version
        self.sealed = sealed
        self.keyNumber = keyNumber
    }
}

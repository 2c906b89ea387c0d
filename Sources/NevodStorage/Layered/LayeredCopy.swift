internal import NevodSupport

/// The local copy of a ``LayeredStorage`` for a key: either the remote value as it was last seen, or a value that is still to be
/// sent, with what it may replace there (``PendingWrite``). Does no I/O.
struct LayeredCopy: Sendable, Equatable {
    /// Nil if nothing is stored, as far as is known.
    let value: Secret?
    /// Nil if the remote store held the value when it was last seen.
    let pending: PendingWrite?
    /// The version of the remote value when it was last seen; nil if the remote store doesn't number versions, or if it is
    /// unknown.
    var version: Int64?

    static func seen(_ value: Secret?, version: Int64? = nil) -> LayeredCopy {
        LayeredCopy(value: value, pending: nil, version: version)
    }

    /// Whether the remote store holds an older version than it did before, as after a restore from a backup.
    func isNewer(than version: Int64?) -> Bool {
        guard let own = self.version, let version else { return false }
        return version < own
    }
}

/// The encoding: `NVL1 | flags | count of digests (2, big-endian) | digests (32 each) | version (8, big-endian) | value`. One
/// flag distinguishes an empty value from no value; another says whether there is a version.
extension LayeredCopy {
    private static let form = Array("NVL1".utf8)
    private static let headSize = form.count + 3

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let value = Flags(rawValue: 1)
        static let pending = Flags(rawValue: 2)
        static let supersedesNone = Flags(rawValue: 4)
        static let baseKnown = Flags(rawValue: 8)
        static let cleared = Flags(rawValue: 16)
        static let version = Flags(rawValue: 32)
    }

    private var flags: Flags {
        var flags: Flags = []
        if value != nil { flags.insert(.value) }
        if version != nil { flags.insert(.version) }
        guard let pending else { return flags }
        flags.insert(.pending)
        if pending.supersedesNone { flags.insert(.supersedesNone) }
        if pending.isBaseKnown { flags.insert(.baseKnown) }
        if pending.hasCleared { flags.insert(.cleared) }
        return flags
    }

    var encoded: Secret {
        let digests = pending.map { $0.superseded.sorted { $0.lexicographicallyPrecedes($1) } } ?? []
        var bytes: [UInt8] = []
        // All memory is reserved at once: growing the array would leave copies of the value in memory.
        bytes.reserveCapacity(Self.headSize + digests.count * SHA256.size + 8 + (value?.count ?? 0))
        bytes += Self.form
        bytes.append(flags.rawValue)
        bytes += UInt16(truncatingIfNeeded: digests.count).bigEndianBytes
        for digest in digests { bytes += digest }
        if let version { bytes += version.bigEndianBytes }
        value?.withUnsafeBytes { bytes += $0 }
        defer { bytes.withUnsafeMutableBytes { $0.wipe() } }
        return Secret(copying: bytes)
    }

    /// - Throws: ``StorageError`` of code `damaged` if a ``LayeredStorage`` did not write the entry.
    init(_ encoded: Secret, for key: StorageKey) throws(StorageError) {
        guard let copy = encoded.withUnsafeBytes(Self.decoded) else {
            throw StorageError(
                .damaged, "\(key)", problem: "the value in the local store was not written by a layered storage",
                remedy: "use a separate local store for it")
        }
        self = copy
    }

    private static func decoded(_ bytes: UnsafeRawBufferPointer) -> LayeredCopy? {
        guard bytes.count >= headSize, bytes.prefix(form.count).elementsEqual(form) else { return nil }
        let flags = Flags(rawValue: bytes[form.count])
        let count = Int(UInt16(bigEndianBytes: bytes[(form.count + 1)..<headSize]))
        let versionStart = headSize + count * SHA256.size
        let start = versionStart + (flags.contains(.version) ? 8 : 0)
        guard flags.rawValue < 64, bytes.count >= start, flags.contains(.value) || bytes.count == start else { return nil }
        let value = flags.contains(.value) ? Secret(copying: UnsafeRawBufferPointer(rebasing: bytes[start...])) : nil
        let version = flags.contains(.version) ? Int64(bigEndianBytes: bytes[versionStart..<start]) : nil
        guard flags.contains(.pending) else { return count == 0 ? .seen(value, version: version) : nil }
        let digests = (0..<count).map { Array(bytes[(headSize + $0 * SHA256.size)...].prefix(SHA256.size)) }
        return LayeredCopy(
            value: value,
            pending: PendingWrite(
                superseded: Set(digests), supersedesNone: flags.contains(.supersedesNone),
                isBaseKnown: flags.contains(.baseKnown), hasCleared: flags.contains(.cleared)), version: version)
    }
}

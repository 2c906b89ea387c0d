internal import NevodSupport

/// The encoding: `NVL1 | flags | count of digests (2, big-endian) | digests (32 each) | version (8, big-endian) | value`. A flag tells
/// an empty value from none, and another one whether there is a version.
extension LayeredCopy {
    static let digestSize = 32
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
        // Reserved up front, so that growing leaves no copy of the value behind.
        bytes.reserveCapacity(Self.headSize + digests.count * Self.digestSize + 8 + (value?.count ?? 0))
        bytes += Self.form
        bytes.append(flags.rawValue)
        bytes += [UInt8(truncatingIfNeeded: digests.count >> 8), UInt8(truncatingIfNeeded: digests.count)]
        for digest in digests { bytes += digest }
        if let version { withUnsafeBytes(of: version.bigEndian) { bytes += $0 } }
        value?.withUnsafeBytes { bytes += $0 }
        defer { bytes.withUnsafeMutableBytes { $0.wipe() } }
        return Secret(copying: bytes)
    }

    /// - Throws: ``StorageError`` of code `damaged` if it was not written by a ``LayeredStorage``.
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
        let count = Int(bytes[form.count + 1]) << 8 | Int(bytes[form.count + 2])
        let versionStart = headSize + count * digestSize
        let start = versionStart + (flags.contains(.version) ? 8 : 0)
        guard flags.rawValue < 64, bytes.count >= start, flags.contains(.value) || bytes.count == start else { return nil }
        let value = flags.contains(.value) ? Secret(copying: UnsafeRawBufferPointer(rebasing: bytes[start...])) : nil
        let version = flags.contains(.version) ? bytes[versionStart..<start].reduce(0) { $0 << 8 | Int64($1) } : nil
        guard flags.contains(.pending) else { return count == 0 ? .seen(value, version: version) : nil }
        let digests = (0..<count).map { Array(bytes[(headSize + $0 * digestSize)..<(headSize + ($0 + 1) * digestSize)]) }
        return LayeredCopy(
            value: value,
            pending: Pending(
                superseded: Set(digests), supersedesNone: flags.contains(.supersedesNone),
                isBaseKnown: flags.contains(.baseKnown), hasCleared: flags.contains(.cleared)), version: version)
    }
}

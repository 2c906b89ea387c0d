internal import NevodSupport

/// The local copy of a ``LayeredStorage`` for a key: the remote value as last seen, or a value that is still to be sent, with
/// what it may replace. Makes decisions, and does no I/O.
struct LayeredCopy: Sendable, Equatable {
    /// Nil if nothing is stored, as far as is known.
    let value: Secret?
    /// Nil if the remote store held the value when it was last seen.
    let pending: Pending?
    /// The version of the remote value when it was last seen; nil if the remote store doesn't number versions, or if it is
    /// unknown.
    var version: Int64?

    /// What a value may replace in the remote store, which may not hold it yet. Older values are recorded as digests, so that
    /// replaced or cleared tokens are not kept.
    struct Pending: Sendable, Equatable {
        /// Digests of the values that may be replaced: the value that the remote store held when it was last seen, and the values
        /// sent since, whatever the outcome.
        var superseded: Set<[UInt8]> = []
        /// Whether an absent value may be replaced. False once a value was sent: if it is absent afterwards, another process may
        /// have cleared it.
        var supersedesNone: Bool
        /// Whether the remote value was ever seen.
        var isBaseKnown: Bool
        /// Whether the value was cleared meanwhile, perhaps before it was set again.
        var hasCleared: Bool
    }

    /// The next step for a pending value once the remote store can be reached.
    enum Step: Equatable {
        /// The remote store holds the value already.
        case upToDate
        /// Another process has changed the remote value meanwhile, and the remote value takes precedence.
        case overruled
        /// Save this copy locally first, since the outcome may stay unknown; then replace the remote value.
        case send(LayeredCopy)
    }

    static func seen(_ value: Secret?, version: Int64? = nil) -> LayeredCopy {
        LayeredCopy(value: value, pending: nil, version: version)
    }

    /// The copy for a value written while the remote store can't be reached.
    ///
    /// - Parameter copy: The previous copy; nil if the remote value was never seen.
    static func recording(_ value: Secret?, over copy: LayeredCopy?) -> LayeredCopy {
        var pending =
            copy?.pending
            ?? Pending(
                superseded: digests(copy?.value), supersedesNone: copy?.value == nil, isBaseKnown: copy != nil,
                hasCleared: false)
        if value == nil {
            pending.supersedesNone = true
            pending.hasCleared = true
        }
        return LayeredCopy(value: value, pending: pending, version: copy?.version)
    }

    /// The copy for a value that is about to be sent to a remote store that holds `held`.
    static func sending(_ value: Secret?, over held: Secret?, version: Int64? = nil) -> LayeredCopy {
        recording(value, over: seen(held, version: version)).sent(over: held)
    }

    /// Whether the remote store holds an older version than it did before, as after a restore from a backup.
    func isNewer(than version: Int64?) -> Bool {
        guard let own = self.version, let version else { return false }
        return version < own
    }

    /// - Parameters:
    ///   - held: The remote value.
    ///   - version: Its version, if the remote store numbers them.
    func step(over held: Secret?, version: Int64? = nil) -> Step {
        guard held != value else { return .upToDate }
        if isNewer(than: version) {
            // The version that was seen is lost, and another value may get its number.
            var copy = pending == nil ? Self.recording(value, over: .seen(held)) : self
            copy.version = nil
            return .send(copy.sent(over: held))
        }
        guard let pending else { return .upToDate }
        return pending.supersedes(held) ? .send(sent(over: held)) : .overruled
    }

    private func sent(over held: Secret?) -> LayeredCopy {
        guard var pending else { return self }
        pending.superseded.formUnion(Self.digests(held))
        pending.superseded.formUnion(Self.digests(value))
        pending.supersedesNone = value == nil
        pending.isBaseKnown = true
        return LayeredCopy(value: value, pending: pending, version: version)
    }

    private static func digests(_ value: Secret?) -> Set<[UInt8]> {
        value.map { [$0.digest] } ?? []
    }
}

extension LayeredCopy.Pending {
    fileprivate func supersedes(_ held: Secret?) -> Bool {
        guard let held else { return supersedesNone }
        // If the value was cleared before any remote value was seen, assume that the clearing meant this one: an extra login is
        // better than a cleared token that comes back.
        return superseded.contains(held.digest) || !isBaseKnown && hasCleared
    }
}

extension Secret {
    fileprivate var digest: [UInt8] { withUnsafeBytes { SHA256.digest(of: $0) } }
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
        // Reserved at once, so that growing leaves no copy of the value in memory.
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
            pending: Pending(
                superseded: Set(digests), supersedesNone: flags.contains(.supersedesNone),
                isBaseKnown: flags.contains(.baseKnown), hasCleared: flags.contains(.cleared)), version: version)
    }
}

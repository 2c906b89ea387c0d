internal import NevodSupport

/// A page of a store's register, the sealed list of every stored version. If another program puts a row back or takes one away,
/// the rows no longer match the register.
///
/// The register is a tree of three levels, ordered by the SHA-256 of the key. The first page, and each of the 256 pages below it,
/// lists 256 pages of the next level, one for each value of a byte of the digest. The list holds the number of changes at which a
/// page was last written, and the page opens only for that number. A page of the last level lists the version of each value by
/// the first half of its key's digest. So a change writes three small pages, however many values there are.
struct RegisterPage: Equatable {
    /// Identifies a page.
    struct Number: Hashable {
        /// 0 for the first page, 1...256 for the second level, and then 65,536 for the third.
        let index: Int

        static let first = Number(index: 0)

        /// The page of the next level that this page lists under a byte. Not for a page of values.
        func child(_ byte: UInt8) -> Number {
            index == 0 ? Number(index: 1 + Int(byte)) : Number(index: 257 + (index - 1) * 256 + Int(byte))
        }

        var isOfValues: Bool { index > 256 }

        /// The page that lists this page, and the byte under which it does. Not for the first page.
        var parent: (Number, UInt8) {
            isOfValues
                ? (Number(index: 1 + (index - 257) / 256), UInt8(truncatingIfNeeded: index - 257))
                : (.first, UInt8(truncatingIfNeeded: index - 1))
        }
    }

    /// The place where a key is listed.
    struct Place {
        let digest: UInt128

        init(_ key: StorageKey) {
            let sha256 = Array(key.rawValue.utf8).withUnsafeBytes { SHA256.digest(of: $0) }
            digest = UInt128(bigEndianBytes: sha256.prefix(16))
        }

        var bytes: (UInt8, UInt8) { (UInt8(truncatingIfNeeded: digest >> 120), UInt8(truncatingIfNeeded: digest >> 112)) }
        var middle: Number { Number.first.child(bytes.0) }
        var last: Number { middle.child(bytes.1) }
    }

    struct Entry: Equatable {
        let id: UInt128
        var number: UInt64
    }

    /// In the order of their identifiers, which are unique.
    private(set) var entries: [Entry] = []

    init() {}

    subscript(id: UInt128) -> UInt64? {
        get {
            let index = index(of: id)
            return index < entries.count && entries[index].id == id ? entries[index].number : nil
        }
        set {
            let index = index(of: id)
            let isThere = index < entries.count && entries[index].id == id
            switch (newValue, isThere) {
            case (let number?, true): entries[index].number = number
            case (let number?, false): entries.insert(Entry(id: id, number: number), at: index)
            case (nil, true): entries.remove(at: index)
            case (nil, false): break
            }
        }
    }

    /// The first position whose identifier is not less than this one.
    private func index(of id: UInt128) -> Int { entries.partitioningIndex { $0.id >= id } }
}

extension Array {
    /// The index of the first element that satisfies a predicate, found by binary search: all later elements satisfy it too. The
    /// array's count if none does.
    func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
        var range = 0..<count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if predicate(self[middle]) { range = range.lowerBound..<middle } else { range = middle + 1..<range.upperBound }
        }
        return range.lowerBound
    }
}

// MARK: Coding

extension RegisterPage {
    /// The size of an identifier in bytes: half a digest, or one byte of it.
    private static func width(_ page: Number) -> Int { page.isOfValues ? 16 : 1 }

    /// The identifier and number of each entry, big-endian.
    func encoded(as page: Number) -> [UInt8] {
        let width = Self.width(page)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(entries.count * (width + 8))
        for entry in entries {
            withUnsafeBytes(of: entry.id.bigEndian) { bytes += $0.suffix(width) }
            withUnsafeBytes(of: entry.number.bigEndian) { bytes += $0 }
        }
        return bytes
    }

    /// - Returns: nil if the bytes are not a page.
    init?(_ bytes: ArraySlice<UInt8>, as page: Number) {
        let width = Self.width(page)
        guard bytes.count.isMultiple(of: width + 8) else { return nil }
        entries.reserveCapacity(bytes.count / (width + 8))
        for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: width + 8) {
            let id = UInt128(bigEndianBytes: bytes[start..<start + width])
            let number = UInt64(bigEndianBytes: bytes[start + width..<start + width + 8])
            guard entries.last.map({ $0.id < id }) ?? true else { return nil }
            entries.append(Entry(id: id, number: number))
        }
    }
}

/// The counts of the whole store. They precede the first page of its register.
struct RegisterHead: Equatable {
    /// The number of changes so far, which is the version of the newest value.
    var changes: UInt64 = 0
    /// The number of values and pages that the data key has sealed.
    var sealings: UInt64 = 0
    /// The highest known number of changes, if the store was found to have been turned back to a lower one; otherwise 0.
    var turnedBackFrom: UInt64 = 0

    static let size = 1 + 3 * 8
    private static let form: UInt8 = 1

    var encoded: [UInt8] {
        [Self.form] + [changes, sealings, turnedBackFrom].flatMap { $0.bigEndianBytes }
    }
}

extension RegisterHead {
    /// - Returns: nil if the bytes have another form.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size, bytes.first == Self.form else { return nil }
        let numbers = (0..<3).map { UInt64(bigEndianBytes: bytes.dropFirst(1 + $0 * 8).prefix(8)) }
        (changes, sealings, turnedBackFrom) = (numbers[0], numbers[1], numbers[2])
    }
}

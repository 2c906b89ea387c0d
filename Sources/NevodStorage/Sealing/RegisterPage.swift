internal import COpenSSL

/// A page of a store's register, the sealed list of every stored version. A row that was put back, or taken away, by anything but the
/// store is not as the register says.
///
/// The register is a tree of three levels by the SHA-256 of the key. The first page and the 256 below it list the pages of the next
/// level by one byte of the digest, each with the count of changes at which it was written last, for which alone it opens. A page of
/// the last level lists values: the version of each by the first half of its key's digest. So a change writes three small pages, however
/// many values there are.
struct RegisterPage: Equatable {
    /// Identifies a page.
    struct Number: Hashable {
        /// 0 for the first page, 1...256 for the second level, and then 65,536 for the third.
        let index: Int

        static let first = Number(index: 0)

        /// The page of the next level that this one lists under a byte. Not for a page of values.
        func child(_ byte: UInt8) -> Number {
            index == 0 ? Number(index: 1 + Int(byte)) : Number(index: 257 + (index - 1) * 256 + Int(byte))
        }

        var isOfValues: Bool { index > 256 }

        /// The page that lists this one, and the byte that it is listed under. Not for the first page.
        var parent: (Number, UInt8) {
            isOfValues
                ? (Number(index: 1 + (index - 257) / 256), UInt8(truncatingIfNeeded: index - 257))
                : (.first, UInt8(truncatingIfNeeded: index - 1))
        }
    }

    /// Where a key is listed.
    struct Place {
        let digest: UInt128

        init(_ key: StorageKey) {
            var digest = [UInt8](repeating: 0, count: 32)
            let text = Array(key.rawValue.utf8)
            let isDone = EVP_Digest(text, text.count, &digest, nil, EVP_sha256(), nil)
            precondition(isDone == 1, "OpenSSL has no SHA-256")
            self.digest = digest.prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
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

    /// The first position whose identifier is not below this one.
    private func index(of id: UInt128) -> Int {
        var range = 0..<entries.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if entries[middle].id < id { range = middle + 1..<range.upperBound } else { range = range.lowerBound..<middle }
        }
        return range.lowerBound
    }
}

// MARK: Coding

extension RegisterPage {
    /// The size of an identifier in bytes: half a digest, or one byte of it.
    private static func width(_ page: Number) -> Int { page.isOfValues ? 16 : 1 }

    /// For each entry its identifier and number, big-endian.
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

    /// - Returns: nil for bytes that no page has.
    init?(_ bytes: ArraySlice<UInt8>, as page: Number) {
        let width = Self.width(page)
        guard bytes.count.isMultiple(of: width + 8) else { return nil }
        entries.reserveCapacity(bytes.count / (width + 8))
        for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: width + 8) {
            let id = bytes[start..<start + width].reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
            let number = bytes[start + width..<start + width + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard entries.last.map({ $0.id < id }) ?? true else { return nil }
            entries.append(Entry(id: id, number: number))
        }
    }
}

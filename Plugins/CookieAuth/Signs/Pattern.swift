/// A text with `*` for any bytes, including none.
struct Pattern: Equatable, Sendable {
    private let parts: [[UInt8]]

    init(_ text: String) {
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map { Array($0) }
    }

    func matches(_ text: String) -> Bool {
        guard let first = parts.first, let last = parts.last, text.utf8.starts(with: first) else { return false }
        guard parts.count > 1 else { return text.utf8.count == first.count }
        var rest = Array(text.utf8)[first.count...]
        for part in parts[1..<(parts.count - 1)] {
            guard let found = rest.firstRange(ofBytes: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
    }
}

extension RandomAccessCollection<UInt8> {
    /// The first place of some bytes, found in a time that grows with the sum of both lengths (Knuth, Morris and Pratt).
    func firstRange(ofBytes bytes: [UInt8]) -> Range<Index>? {
        guard !bytes.isEmpty else { return startIndex..<startIndex }
        // For each length of a beginning: the length of the longest shorter one that it ends with.
        var shorter = [0]
        var length = 0
        for byte in bytes.dropFirst() {
            while length > 0, byte != bytes[length] { length = shorter[length - 1] }
            if byte == bytes[length] { length += 1 }
            shorter.append(length)
        }
        length = 0
        for position in indices {
            while length > 0, self[position] != bytes[length] { length = shorter[length - 1] }
            if self[position] == bytes[length] { length += 1 }
            if length == bytes.count {
                let end = index(after: position)
                return index(end, offsetBy: -length)..<end
            }
        }
        return nil
    }
}

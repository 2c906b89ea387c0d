/// Finds any of many texts in another text, in one pass over it.
struct TextIndex<Value> {
    private var values: [ArraySlice<UInt8>: Value] = [:]
    /// The lengths of the texts that begin with the same bytes, the longest first.
    private var lengths: [UInt64: [Int]] = [:]
    /// The numbers of first bytes by which texts are found, the largest first.
    private var widths: [Int] = []

    private static var width: Int { 4 }

    /// - Returns: false for a text that is there already, or is empty; then nothing changes.
    @discardableResult
    mutating func insert(_ text: [UInt8], _ value: Value) -> Bool {
        guard !text.isEmpty, values[text[...]] == nil else { return false }
        values[text[...]] = value
        let width = min(text.count, Self.width)
        if !widths.contains(width) {
            widths.append(width)
            widths.sort(by: >)
        }
        let key = Self.key(text, 0, width)
        var known = lengths[key] ?? []
        if !known.contains(text.count) {
            known.insert(text.count, at: known.firstIndex { $0 < text.count } ?? known.count)
            lengths[key] = known
        }
        return true
    }

    /// Returns the longest text at a place in another one that the condition accepts.
    func find(in bytes: [UInt8], at index: Int, where accepts: (Value, Range<Int>) -> Bool) -> (value: Value, count: Int)? {
        for width in widths where width <= bytes.count - index {
            for length in lengths[Self.key(bytes, index, width)] ?? [] where length <= bytes.count - index {
                let place = index..<index + length
                if let value = values[bytes[place]], accepts(value, place) { return (value, length) }
            }
        }
        return nil
    }

    private static func key(_ bytes: [UInt8], _ index: Int, _ width: Int) -> UInt64 {
        // A shorter one with other bytes in front is a key of its own.
        bytes[index..<index + width].reduce(1) { $0 << 8 | UInt64($1) }
    }
}

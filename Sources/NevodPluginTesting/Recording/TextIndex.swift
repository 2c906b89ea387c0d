internal import NevodSupport

/// Finds any of many texts in another text, in one pass over it.
struct TextIndex<Value> {
    private var values: [ArraySlice<UInt8>: Value] = [:]
    /// The lengths of the texts that begin with the same bytes, the longest first.
    private var lengths: [UInt64: [Int]] = [:]
    /// How many first bytes of a text can serve to find it, the largest number first.
    private var widths: [Int] = []

    private static var width: Int { 4 }

    /// - Returns: false if the text is empty or already present. Then nothing changes.
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

    /// Returns the longest text at a place in `bytes` that the condition accepts.
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
        // The leading 1 keeps keys of different widths distinct.
        bytes[index..<index + width].reduce(1) { $0 << 8 | UInt64($1) }
    }
}

/// A text in which JSON's escapes are undone wherever they occur, whether or not it is JSON.
struct EscapedText {
    /// Without the escapes.
    private(set) var bytes: [UInt8] = []
    /// The places of the bytes in the original, then the original's length. The bytes of one escape have the same place.
    private var places: [Int] = []
    private let original: [UInt8]

    /// Returns nil for a text without escapes.
    init?(_ original: [UInt8]) {
        guard original.contains(UInt8(ascii: "\\")) else { return nil }
        self.original = original
        let span = original.span
        var index = 0
        while index < span.count {
            let place = index
            index += 1
            if span[place] != UInt8(ascii: "\\") || !JSONEscape.decode(span, at: &index, into: &bytes) {
                bytes.append(span[place])
            }
            while places.count < bytes.count { places.append(place) }
        }
        guard bytes.count < original.count else { return nil }
        places.append(original.count)
    }

    /// Returns the original bytes of the part of the text; nil if it begins or ends within an escape.
    func original(_ part: Range<Int>) -> ArraySlice<UInt8>? {
        let isWhole = { (index: Int) in index == 0 || places[index] != places[index - 1] }
        return isWhole(part.lowerBound) && isWhole(part.upperBound)
            ? original[places[part.lowerBound]..<places[part.upperBound]] : nil
    }

    /// Returns the original bytes that end with the byte at an index.
    func piece(_ index: Int) -> ArraySlice<UInt8> { original[places[index]..<places[index + 1]] }

    /// Escapes a text for a string of JSON.
    static func escaped(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
            case 0..<0x20: Array("\\u00\(Hexadecimal.text([byte]))".utf8)
            default: [byte]
            }
        }
    }
}

internal import NevodSupport

/// A text in which JSON's escapes are undone, wherever they stand: whether it is JSON does not matter.
struct EscapedText {
    /// Without the escapes.
    private(set) var bytes: [UInt8] = []
    /// The places of the bytes in the original, and its length at the end. The bytes of one escape have the same place.
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

    /// Writes a text as it stands within a string of JSON.
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

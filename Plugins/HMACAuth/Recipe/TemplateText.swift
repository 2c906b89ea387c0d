internal import NevodPluginKit
internal import NevodSupport

/// The text of a template, read byte by byte. Positions are within a line. The line's number is kept for errors.
struct TemplateText {
    let bytes: ArraySlice<UInt8>
    let line: Int
    /// The index of the line's first byte.
    let lineStart: Int
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>, line: Int, lineStart: Int) {
        self.bytes = bytes
        self.line = line
        self.lineStart = lineStart
        position = bytes.startIndex
    }

    var place: Recipe.Place { place(of: position) }

    func place(of position: Int) -> Recipe.Place { Recipe.Place(line: line, column: position - lineStart + 1) }

    func error(_ problem: String, at position: Int? = nil) -> RecipeError {
        RecipeError(place: place(of: position ?? self.position), problem: problem)
    }

    var isAtEnd: Bool { position == bytes.endIndex }

    var peek: UInt8? { isAtEnd ? nil : bytes[position] }

    mutating func next() -> UInt8? {
        guard let byte = peek else { return nil }
        position += 1
        return byte
    }

    /// The byte that an escape means, read after its backslash.
    mutating func escaped() throws(RecipeError) -> UInt8 {
        switch next() {
        case UInt8(ascii: "n"): UInt8(ascii: "\n")
        case UInt8(ascii: "r"): UInt8(ascii: "\r")
        case UInt8(ascii: "t"): UInt8(ascii: "\t")
        case UInt8(ascii: "s"): UInt8(ascii: " ")
        case let byte?
        where byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: ":")
            || byte == UInt8(ascii: "|"):
            byte
        default: throw error(#"a \ before a character other than n, r, t, s, \, {, }, : and |"#, at: position - 1)
        }
    }

    /// Reads up to the next bar or brace: the name of a value or filter, and its arguments, separated by colons.
    ///
    /// - Returns: the words, unescaped, and the position of each.
    mutating func words() throws(RecipeError) -> [Word] {
        var words: [Word] = [Word(bytes: [], start: position)]
        while let byte = peek, byte != UInt8(ascii: "|"), byte != UInt8(ascii: "}") {
            position += 1
            switch byte {
            case UInt8(ascii: ":"): words.append(Word(bytes: [], start: position))
            case UInt8(ascii: "\\"): words[words.count - 1].bytes.append(try escaped())
            default: words[words.count - 1].bytes.append(byte)
            }
        }
        return words
    }

    struct Word {
        var bytes: [UInt8]
        let start: Int

        var text: String { String(decoding: bytes, as: UTF8.self) }

        /// The word as a number of at most nine digits; nil for anything else.
        var number: Int? {
            bytes.count <= 9 ? Int(digits: bytes) : nil
        }
    }
}

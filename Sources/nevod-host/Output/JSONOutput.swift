import NevodSupport

/// Collects the bytes of the formatted document.
struct JSONOutput {
    let document: [UInt8]
    let inColour: Bool
    let isCompact: Bool
    private(set) var bytes: [UInt8] = []

    init(document: [UInt8], inColour: Bool, isCompact: Bool) {
        self.document = document
        self.inColour = inColour
        self.isCompact = isCompact
        bytes.reserveCapacity(document.count * 2)
    }

    mutating func mark(_ text: StaticString) {
        bytes += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    mutating func newLine(_ depth: Int) {
        guard !isCompact else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
    }

    mutating func key(_ range: Range<Int>) {
        coloured("\u{1B}[1;34m") { $0.string(range) }
    }

    mutating func scalar(_ token: JSONLexer.Token) {
        switch token {
        case .string(let range): coloured("\u{1B}[32m") { $0.string(range) }
        case .number(let range): coloured("\u{1B}[36m") { $0.bytes += $0.document[range] }
        case .literal(let range): coloured("\u{1B}[35m") { $0.bytes += $0.document[range] }
        default: break
        }
    }

    private mutating func coloured(_ begin: StaticString, _ write: (inout JSONOutput) -> Void) {
        if inColour { mark(begin) }
        write(&self)
        if inColour { mark("\u{1B}[0m") }
    }

    private mutating func string(_ range: Range<Int>) {
        var start = range.lowerBound
        var index = start
        while index < range.upperBound {
            // DEL, or the first byte of a possibly unsafe scalar, which has two or three bytes.
            let byte = document[index]
            guard byte == 0x7F || byte == 0xC2 || byte == 0xD8 || byte == 0xE2, let (scalar, count) = unsafeScalar(at: index)
            else {
                index += 1
                continue
            }
            bytes += document[start..<index]
            bytes += "\\u\(scalar.hexadecimal)".utf8
            index += count
            start = index
        }
        bytes += document[start..<range.upperBound]
    }

    private func unsafeScalar(at index: Int) -> (Unicode.Scalar, count: Int)? {
        var iterator = document[index...].makeIterator()
        var decoder = UTF8()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator), scalar.isUnsafeAtTerminal else { return nil }
        return (scalar, scalar.utf8.count)
    }
}

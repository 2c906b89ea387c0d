import NevodSupport

/// Formats a JSON document for a terminal: indented, and optionally in colours. Nothing is decoded: members keep their order and
/// duplicates, numbers and strings keep their bytes. Only characters that control a terminal or change the writing direction are
/// replaced, by the equivalent escape.
struct JSONFormatter {
    /// Larger documents are not formatted: nobody reads them at a terminal.
    static let largest = 4 << 20

    let inColour: Bool
    /// Whether to write the document on one line.
    var isCompact = false
    /// The maximum depth. The sender decides the depth, and the indentation of `[[[[…` alone could fill the memory.
    var maximumDepth = 512
    var maximumOutput = 64 << 20

    private enum Container {
        case array, object
    }

    /// The tokens that the grammar allows next.
    private enum Expectation {
        case value, valueOrEnd, key, keyOrEnd, colon, commaOrEnd
    }

    /// Returns the formatted document with a final line break. Returns nil if it isn't JSON (RFC 8259), or is too deep or too
    /// long; the caller then prints it unchanged.
    func format(_ document: [UInt8]) -> [UInt8]? {
        guard (try? UTF8Span(validating: document.span)) != nil else { return nil }
        // A byte order mark may be ignored (RFC 8259 §8.1).
        let document = Array(document.withoutByteOrderMark)
        var lexer = JSONLexer(document.span)
        var output = JSONOutput(document: document, inColour: inColour, isCompact: isCompact)
        // An explicit stack instead of recursion, because the sender decides the depth.
        var containers: [Container] = []
        var expectation = Expectation.value
        while output.bytes.count <= maximumOutput {
            guard let token = try? lexer.next() else { return nil }
            switch (token, expectation) {
            case (.beginArray, .value), (.beginArray, .valueOrEnd), (.beginObject, .value), (.beginObject, .valueOrEnd):
                guard containers.count < maximumDepth else { return nil }
                if expectation == .valueOrEnd { output.newLine(containers.count) }
                containers.append(token == .beginArray ? .array : .object)
                output.mark(token == .beginArray ? "[" : "{")
                expectation = token == .beginArray ? .valueOrEnd : .keyOrEnd

            case (.string, .value), (.number, .value), (.literal, .value),
                (.string, .valueOrEnd), (.number, .valueOrEnd), (.literal, .valueOrEnd):
                if expectation == .valueOrEnd { output.newLine(containers.count) }
                output.scalar(token)
                expectation = .commaOrEnd

            case (.string(let range), .key), (.string(let range), .keyOrEnd):
                output.newLine(containers.count)
                output.key(range)
                expectation = .colon

            case (.colon, .colon):
                output.mark(": ")
                expectation = .value

            case (.comma, .commaOrEnd) where !containers.isEmpty:
                output.mark(isCompact ? ", " : ",")
                if containers.last == .array { output.newLine(containers.count) }
                expectation = containers.last == .array ? .value : .key

            case (.endArray, .valueOrEnd), (.endArray, .commaOrEnd), (.endObject, .keyOrEnd), (.endObject, .commaOrEnd):
                guard containers.popLast() == (token == .endArray ? .array : .object) else { return nil }
                // An empty container stays on one line.
                if expectation == .commaOrEnd { output.newLine(containers.count) }
                output.mark(token == .endArray ? "]" : "}")
                expectation = .commaOrEnd

            case (.end, .commaOrEnd) where containers.isEmpty:
                output.mark("\n")
                return output.bytes

            default: return nil
            }
        }
        return nil
    }
}

/// Collects a formatted document's bytes.
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
            // DEL, or the first of the two or three bytes of a scalar that may be unsafe.
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

import NevodSupport

/// Formats a JSON document for a terminal: indented, and optionally in colours. Nothing is decoded: members keep their order and
/// duplicates, numbers and strings their bytes. Only characters that control a terminal or change the writing direction are replaced
/// by the equivalent escape.
struct JSONFormatter {
    let inColour: Bool
    /// Whether a document is written on one line.
    var isCompact = false
    /// Limits the depth, which the sender of `[[[[…` decides: indentation alone could fill the memory.
    var maximumDepth = 512
    var maximumOutput = 64 << 20

    private enum Container {
        case array, object
    }

    /// The tokens that the grammar allows next.
    private enum Expectation {
        case value, valueOrEnd, key, keyOrEnd, colon, commaOrEnd
    }

    /// Returns the formatted document with a final line break; nil if it isn't JSON (RFC 8259), or is too deep or too long, so that
    /// the caller prints it unchanged.
    func format(_ document: [UInt8]) -> [UInt8]? {
        guard (try? UTF8Span(validating: document.span)) != nil else { return nil }
        // A byte order mark may be ignored (RFC 8259 §8.1).
        let document = document.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(document.dropFirst(3)) : document
        var lexer = JSONLexer(document.span)
        var output = JSONOutput(document: document, inColour: inColour, isCompact: isCompact)
        // An explicit stack instead of recursion: the sender decides the depth.
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

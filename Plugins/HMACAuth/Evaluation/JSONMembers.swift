internal import NevodPluginKit
internal import NevodSupport

/// The members of a JSON object, read without building a tree.
struct JSONMembers: ~Escapable {
    private var lexer: JSONLexer
    private var isFirst = true

    /// The limit on nesting. Deeper JSON wouldn't use more stack, but a server would refuse it.
    private static let deepest = 64

    private struct Member {
        /// The name, with its escapes decoded.
        let name: [UInt8]
        let kind: Kind
        /// The value as written; for a string, the text between the quotation marks.
        let value: Range<Int>
    }

    private enum Kind {
        case string, scalar, nested
    }

    /// All members of an object, in order.
    ///
    /// - Parameter problem: the beginning of the error for a text that isn't an object.
    static func read(_ text: Span<UInt8>, _ problem: String) throws(SchemeError) -> [(name: [UInt8], value: [UInt8])] {
        do throws(JSONError) {
            var all: [(name: [UInt8], value: [UInt8])] = []
            var members = JSONMembers(text)
            while let member = try members.next() { all.append((member.name, try members.value(of: member))) }
            return all
        } catch {
            throw .unsupported("\(problem): \(error)")
        }
    }

    @_lifetime(copy text)
    private init(_ text: Span<UInt8>) {
        lexer = JSONLexer(text)
    }

    /// The next member; nil after the last one. Throws if anything follows the object.
    @_lifetime(self: copy self)
    private mutating func next() throws(JSONError) -> Member? {
        var token = try lexer.next()
        if isFirst {
            guard token == .beginObject else { throw lexer.error("expected an object") }
            token = try lexer.next()
        }
        if token == .endObject {
            guard try lexer.next() == .end else { throw lexer.error("text after the value") }
            return nil
        }
        if !isFirst {
            guard token == .comma else { throw lexer.error("expected a comma or the end of the object") }
            token = try lexer.next()
        }
        isFirst = false
        guard case .string(let name) = token else { throw lexer.error("expected a member's name") }
        guard try lexer.next() == .colon else { throw lexer.error("expected a colon") }
        let decoded = try text(of: name.lowerBound + 1..<name.upperBound - 1)
        switch try lexer.next() {
        case .string(let range): return Member(name: decoded, kind: .string, value: range.lowerBound + 1..<range.upperBound - 1)
        case .number(let range), .literal(let range): return Member(name: decoded, kind: .scalar, value: range)
        case .beginObject: return Member(name: decoded, kind: .nested, value: try skipNested(isObject: true))
        case .beginArray: return Member(name: decoded, kind: .nested, value: try skipNested(isObject: false))
        default: throw lexer.error("expected a JSON value")
        }
    }

    /// Reads up to the end of an array or object. Its first token must have been read just before. Checks only that the brackets
    /// match; the server judges the rest.
    @_lifetime(self: copy self)
    private mutating func skipNested(isObject: Bool) throws(JSONError) -> Range<Int> {
        let start = lexer.tokenStart
        var depth = 1
        // A bit for each level: whether it is an object.
        var kinds: UInt64 = isObject ? 1 : 0
        while depth > 0 {
            switch try lexer.next() {
            case .beginObject:
                depth += 1
                kinds = kinds << 1 | 1
            case .beginArray:
                depth += 1
                kinds <<= 1
            case .endObject:
                guard kinds & 1 == 1 else { throw lexer.error("expected the end of the array") }
                depth -= 1
                kinds >>= 1
            case .endArray:
                guard kinds & 1 == 0 else { throw lexer.error("expected the end of the object") }
                depth -= 1
                kinds >>= 1
            case .end: throw lexer.error("unexpected end")
            default: break
            }
            guard depth < Self.deepest else { throw lexer.error("nested too deeply") }
        }
        return start..<lexer.tokenStart + 1
    }

    /// The text between quotation marks, with its escapes decoded.
    private func text(of range: Range<Int>) throws(JSONError) -> [UInt8] {
        let content = lexer.bytes.extracting(range)
        var text: [UInt8] = []
        text.reserveCapacity(content.count)
        var index = 0
        while index < content.count {
            let byte = content[index]
            index += 1
            if byte != UInt8(ascii: "\\") {
                text.append(byte)
            } else if !JSONEscape.decode(content, at: &index, into: &text) {
                throw JSONError(offset: range.lowerBound + index, problem: "an unpaired surrogate")
            }
        }
        return text
    }

    /// The bytes of a member's value: a string with its escapes decoded, anything else as written.
    private func value(of member: Member) throws(JSONError) -> [UInt8] {
        if member.kind == .string { return try text(of: member.value) }
        var bytes: [UInt8] = []
        bytes.append(lexer.bytes.extracting(member.value))
        return bytes
    }
}

extension JSONValue {
    /// Reads one value, strictly (RFC 8259): no comments, no trailing commas, no unpaired surrogates, nothing after the value.
    ///
    /// - Parameters:
    ///   - text: UTF-8.
    ///   - size: the largest number of bytes that is read.
    ///   - depth: how deeply arrays and objects may be nested.
    public init(parsing text: Span<UInt8>, size: Int = 1 << 20, depth: Int = 64) throws(JSONError) {
        try self.init(parsing: text, size: size, depth: depth, repeatedNames: .kept)
    }

    /// Reads one value from a string of at most 1 MiB, nested at most 64 deep.
    public init(parsing text: String) throws(JSONError) {
        try self.init(parsing: Array(text.utf8).span)
    }

    /// How an object is read that has two members of one name, which readers take differently (RFC 8259 §4).
    package enum RepeatedNames: Sendable {
        case kept
        /// For what decides about security: no two readers can disagree about it.
        case refused
    }

    package init(
        parsing text: Span<UInt8>, size: Int = 1 << 20, depth: Int = 64, repeatedNames: RepeatedNames
    ) throws(JSONError) {
        guard text.count <= size else { throw JSONError(offset: size, problem: "more than \(size) bytes") }
        var parser = JSONParser(text, repeatedNames)
        self = try parser.document(depth: depth)
    }
}

private struct JSONParser: ~Escapable {
    private var lexer: JSONLexer
    private let repeatedNames: JSONValue.RepeatedNames

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, _ repeatedNames: JSONValue.RepeatedNames) {
        lexer = JSONLexer(bytes)
        self.repeatedNames = repeatedNames
    }

    @_lifetime(self: copy self)
    mutating func document(depth: Int) throws(JSONError) -> JSONValue {
        let value = try value(lexer.next(), depth: depth)
        guard try lexer.next() == .end else { throw lexer.error("text after the value") }
        return value
    }

    @_lifetime(self: copy self)
    private mutating func value(_ token: JSONLexer.Token, depth: Int) throws(JSONError) -> JSONValue {
        switch token {
        case .beginObject: return try object(depth: depth)
        case .beginArray: return try array(depth: depth)
        case .string(let range): return .string(try string(range))
        case .number(let range): return try number(range)
        case .literal(let range):
            switch lexer.bytes[range.lowerBound] {
            case UInt8(ascii: "t"): return .bool(true)
            case UInt8(ascii: "f"): return .bool(false)
            default: return .null
            }
        case .end: throw lexer.error("unexpected end")
        case .endArray, .endObject, .colon, .comma: throw lexer.error("expected a JSON value")
        }
    }

    @_lifetime(self: copy self)
    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        guard depth > 0 else { throw lexer.error("nested too deeply") }
        var elements: [JSONValue] = []
        var token = try lexer.next()
        if token == .endArray { return .array(elements) }
        while true {
            elements.append(try value(token, depth: depth - 1))
            switch try lexer.next() {
            case .endArray: return .array(elements)
            case .comma: token = try lexer.next()
            default: throw lexer.error("expected a comma or the end of the array")
            }
        }
    }

    @_lifetime(self: copy self)
    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        guard depth > 0 else { throw lexer.error("nested too deeply") }
        var members: [JSONValue.Member] = []
        var names: Set<[UInt8]> = []
        var token = try lexer.next()
        if token == .endObject { return .object(members) }
        while true {
            guard case .string(let range) = token else { throw lexer.error("expected a member's name") }
            let name = try string(range)
            if repeatedNames == .refused, !names.insert(Array(name.utf8)).inserted {
                throw lexer.error("a repeated member name")
            }
            guard try lexer.next() == .colon else { throw lexer.error("expected a colon") }
            members.append(JSONValue.Member(name, try value(lexer.next(), depth: depth - 1)))
            switch try lexer.next() {
            case .endObject: return .object(members)
            case .comma: token = try lexer.next()
            default: throw lexer.error("expected a comma or the end of the object")
            }
        }
    }

    private func number(_ range: Range<Int>) throws(JSONError) -> JSONValue {
        let text = lexer.bytes.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        // Int64 takes no fraction and no exponent.
        if let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw lexer.error("a number that is too large") }
        return .number(number)
    }

    /// The text of a string token, its escapes decoded.
    private func string(_ range: Range<Int>) throws(JSONError) -> String {
        let content = lexer.bytes.extracting((range.lowerBound + 1)..<(range.upperBound - 1))
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
        guard let string = String(validating: text, as: UTF8.self) else {
            throw JSONError(offset: range.lowerBound + 1, problem: "a string that is not UTF-8")
        }
        return string
    }
}

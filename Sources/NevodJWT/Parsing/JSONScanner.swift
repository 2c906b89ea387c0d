internal import NevodSupport

/// Reads JSON once, to check it and to find an object's members. The caller has checked that the text is UTF-8.
struct JSONScanner: ~Escapable {
    private var lexer: JSONLexer
    private let hasEscapes: Bool

    @_lifetime(copy text)
    init(_ text: Span<UInt8>, hasEscapes: Bool) {
        lexer = JSONLexer(text)
        self.hasEscapes = hasEscapes
    }

    /// The members of the object that makes up the whole text.
    @_lifetime(self: copy self)
    mutating func document(depth: Int) throws(JSONError) -> [JSONIndex.Member] {
        guard case .beginObject = try lexer.next() else { throw lexer.error("expected an object") }
        var members: [JSONIndex.Member] = []
        members.reserveCapacity(12)
        try object(depth: depth, into: &members)
        guard case .end = try lexer.next() else { throw lexer.error("text after the object") }
        return members
    }

    /// The elements of the array that makes up the whole text.
    @_lifetime(self: copy self)
    mutating func elements(depth: Int) throws(JSONError) -> [Range<Int>] {
        guard case .beginArray = try lexer.next() else { throw lexer.error("expected an array") }
        var elements: [Range<Int>] = []
        try array(depth: depth, into: &elements)
        return elements
    }

    /// Reads an object after its first brace.
    @_lifetime(self: copy self)
    private mutating func object(depth: Int, into members: inout [JSONIndex.Member]) throws(JSONError) {
        guard depth > 0 else { throw lexer.error("nested too deeply") }
        var names = JSONNames()
        var token = try lexer.next()
        if case .endObject = token { return }
        while true {
            guard case .string(let range) = token else { throw lexer.error("expected a member's name") }
            try check(range)
            let name = range.lowerBound + 1..<range.upperBound - 1
            guard names.insert(name, members, lexer.bytes, hasEscapes: hasEscapes) else {
                throw lexer.error("a repeated member name")
            }
            guard case .colon = try lexer.next() else { throw lexer.error("expected a colon") }
            let (value, kind) = try value(lexer.next(), depth: depth - 1)
            members.append(JSONIndex.Member(name: name, value: value, kind: kind))
            switch try lexer.next() {
            case .endObject: return
            case .comma: token = try lexer.next()
            default: throw lexer.error("expected a comma or the end of the object")
            }
        }
    }

    @_lifetime(self: copy self)
    private mutating func array(depth: Int, into elements: inout [Range<Int>]) throws(JSONError) {
        guard depth > 0 else { throw lexer.error("nested too deeply") }
        var token = try lexer.next()
        if case .endArray = token { return }
        while true {
            elements.append(try value(token, depth: depth - 1).0)
            switch try lexer.next() {
            case .endArray: return
            case .comma: token = try lexer.next()
            default: throw lexer.error("expected a comma or the end of the array")
            }
        }
    }

    @_lifetime(self: copy self)
    private mutating func value(_ token: JSONLexer.Token, depth: Int) throws(JSONError) -> (Range<Int>, JSONKind) {
        let start = lexer.tokenStart
        switch token {
        case .string(let range):
            try check(range)
            return (range, .string)
        case .number(let range):
            try checkNumber(range)
            return (range, .number)
        case .literal(let range):
            switch lexer.bytes[range.lowerBound] {
            case UInt8(ascii: "t"): return (range, .true)
            case UInt8(ascii: "f"): return (range, .false)
            default: return (range, .null)
            }
        case .beginArray:
            var elements: [Range<Int>] = []
            try array(depth: depth, into: &elements)
            return (start..<lexer.tokenStart + 1, .array)
        case .beginObject:
            var members: [JSONIndex.Member] = []
            try object(depth: depth, into: &members)
            return (start..<lexer.tokenStart + 1, .object)
        case .end: throw lexer.error("unexpected end")
        case .endArray, .endObject, .colon, .comma: throw lexer.error("expected a JSON value")
        }
    }

    /// The lexer checks escapes, but not whether surrogates come in pairs.
    private func check(_ string: Range<Int>) throws(JSONError) {
        guard hasEscapes else { return }
        var decoded: [UInt8] = []
        let contents = lexer.bytes.extracting(string.lowerBound + 1..<string.upperBound - 1)
        guard JSONText.decode(contents, into: &decoded) else { throw lexer.error("an unpaired surrogate") }
    }

    /// Refuses `1e400`, which some readers interpret as infinity.
    private func checkNumber(_ range: Range<Int>) throws(JSONError) {
        // A number with this few digits and no exponent is finite.
        let text = lexer.bytes.extracting(range)
        var isShort = text.count < 300
        for index in text.indices where text[index] | 0x20 == UInt8(ascii: "e") { isShort = false }
        if isShort { return }
        let number = text.withUnsafeBufferPointer { Double(String(decoding: $0, as: UTF8.self)) }
        guard let number, number.isFinite else { throw lexer.error("a number that is too large") }
    }
}

/// The names of an object's members so far. A few names are compared one by one, which needs no memory.
private struct JSONNames {
    private var set: Set<[UInt8]> = []

    /// - Returns: false if a member has the name already.
    mutating func insert(
        _ name: Range<Int>, _ members: [JSONIndex.Member], _ text: Span<UInt8>, hasEscapes: Bool
    ) -> Bool {
        if members.count < 16, !hasEscapes {
            return !members.contains { $0.name.count == name.count && text.extracting($0.name).equals(text.extracting(name)) }
        }
        if set.isEmpty {
            for member in members { set.insert(JSONText.bytes(text.extracting(member.name))) }
        }
        return set.insert(JSONText.bytes(text.extracting(name))).inserted
    }
}

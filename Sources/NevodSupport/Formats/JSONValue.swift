/// A JSON value (RFC 8259).
///
/// ```swift
/// let json = try response.json()
/// guard let token = json["access_token"]?.string else { … }
/// ```
public enum JSONValue: Sendable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without a fraction or an exponent that fits in 64 bits.
    case integer(Int64)
    /// Any other number. A number that isn't finite is written as null.
    case number(Double)
    /// A text, with its escapes decoded and without quotes.
    case string(String)
    /// A UTF-8 string to be written without making another copy. Parsing never returns one.
    case secret(Secret)
    /// Elements, in order.
    case array([JSONValue])
    /// Members in order, even those with repeated names. Of these, the last one counts.
    case object([Member])

    /// A name in an object, and its value.
    public struct Member: Sendable, Equatable {
        /// The name without quotes, with its escapes decoded.
        public let name: String
        /// The member's value.
        public let value: JSONValue

        /// Creates a member of an object to be written.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// An object's member. Nil if the value isn't an object, or has no such member. Names are compared byte by byte.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// An array's element. Nil if the value isn't an array, or has no such element.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// A string's text; nil for other values.
    public var string: String? { if case .string(let string) = self { string } else { nil } }
    /// The value of `true` or `false`; nil for other values, including the string `"true"`.
    public var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }

    /// A whole number, even if it is written as `3600.0`, as some servers do; nil for other values.
    public var integer: Int64? {
        switch self {
        case .integer(let integer): integer
        case .number(let number): Int64(exactly: number)
        default: nil
        }
    }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements.map { Member($0, $1) }) }
    public init(nilLiteral: ()) { self = .null }
}

/// Why a text isn't JSON, or exceeds the limits of its reader. Names the place, and repeats nothing from the text.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The byte's offset, from 0.
    public let offset: Int
    /// The fault in words.
    public let problem: String
    public var description: String { "\(problem) at byte \(offset)" }

    package init(offset: Int, problem: String) {
        self.offset = offset
        self.problem = problem
    }
}

extension JSONValue {
    /// Reads one value, strictly (RFC 8259). Comments, trailing commas, unpaired surrogates and text after the value are errors.
    ///
    /// - Parameters:
    ///   - text: UTF-8.
    ///   - size: the largest number of bytes to read.
    ///   - depth: how deeply arrays and objects may be nested.
    public init(parsing text: Span<UInt8>, size: Int = 1 << 20, depth: Int = 64) throws(JSONError) {
        try self.init(parsing: text, size: size, depth: depth, repeatedNames: .kept)
    }

    /// Reads one value from a string of at most 1 MiB, nested at most 64 deep.
    public init(parsing text: String) throws(JSONError) {
        try self.init(parsing: Array(text.utf8).span)
    }

    /// How to read an object with two members of one name. Readers differ in this (RFC 8259 §4).
    package enum RepeatedNames: Sendable {
        case kept
        /// For input that decides about security, so that no two readers can disagree about it.
        case refused
    }

    package init(
        parsing text: Span<UInt8>, size: Int = 1 << 20, depth: Int = 64, repeatedNames: RepeatedNames
    ) throws(JSONError) {
        guard text.count <= size else { throw JSONError(offset: size, problem: "more than \(size) bytes") }
        var parser = JSONParser(text, repeatedNames)
        self = try parser.document(depth: depth)
    }

    /// Reads the JSON of a server's response. Ignores a byte order mark (RFC 8259 §8.1), and refuses repeated names.
    ///
    /// - Parameters:
    ///   - body: at most 1 MiB, nested at most 64 deep.
    ///   - repairsText: whether bytes that aren't UTF-8 become replacement characters. Some authorization servers send Latin-1 in
    ///     the description of an error, where it does no harm.
    package init(response body: Span<UInt8>, repairsText: Bool = false) throws(JSONError) {
        let hasMark = body.count >= 3 && body[0] == 0xEF && body[1] == 0xBB && body[2] == 0xBF
        let text = body.extracting(droppingFirst: hasMark ? 3 : 0)
        do throws(JSONError) {
            self = try JSONValue(parsing: text, repeatedNames: .refused)
        } catch {
            guard repairsText else { throw error }
            let repaired = Array(text.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }.utf8)
            self = try JSONValue(parsing: repaired.span, repeatedNames: .refused)
        }
    }

    package init(response body: [UInt8]) throws(JSONError) {
        try self.init(response: body.span)
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
        // Int64 accepts no fraction and no exponent.
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

extension JSONValue {
    /// The value in UTF-8, without white space.
    public var encoded: Secret {
        var bytes = WipedBytes()
        write(to: &bytes)
        return bytes.secret
    }

    private func write(to bytes: inout WipedBytes) {
        switch self {
        case .null: bytes.append("null")
        case .bool(let bool): bytes.append(bool ? "true" : "false")
        case .integer(let integer): bytes.append(String(integer))
        case .number(let number): bytes.append(number.isFinite ? "\(number)" : "null")
        case .string(let string): bytes.append(quoting: string)
        case .secret(let secret): secret.withUnsafeBytes { bytes.append(quoting: $0) }
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.append(quoting: member.name)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

extension WipedBytes {
    /// Appends a JSON string: in quotation marks, with escapes where JSON demands them (RFC 8259 §7).
    package mutating func append(quoting text: String) {
        var text = text
        text.withUTF8 { append(quoting: UnsafeRawBufferPointer($0)) }
    }

    fileprivate mutating func append(quoting text: UnsafeRawBufferPointer) {
        append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0..<0x20:
                append("\\u00")
                append(Hexadecimal.digit(byte >> 4))
                append(Hexadecimal.digit(byte & 15))
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }
}

/// Why a text is no JSON, or none that is read. Says where, and nothing of what stands there.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Of the byte, from 0.
    public let offset: Int
    /// What is wrong, in words.
    public let problem: String
    public var description: String { "\(problem) at byte \(offset)" }
}

extension JSONValue {
    /// Reads one value, strictly (RFC 8259): no comments, no commas at ends, no lone surrogates, nothing behind the value.
    ///
    /// - Parameters:
    ///   - text: UTF-8.
    ///   - size: how many bytes are read at most.
    ///   - depth: how deep arrays and objects may stand in each other.
    public init(parsing text: Span<UInt8>, size: Int = 1 << 20, depth: Int = 64) throws(JSONError) {
        self = try text.withUnsafeBytes { bytes throws(JSONError) in try JSONValue(parsing: bytes, size: size, depth: depth) }
    }

    /// The same, of a text: at most 1 MiB, 64 deep.
    public init(parsing text: String) throws(JSONError) {
        try self.init(parsing: Array(text.utf8).span)
    }

    init(parsing bytes: UnsafeRawBufferPointer, size: Int = 1 << 20, depth: Int = 64) throws(JSONError) {
        guard bytes.count <= size else { throw JSONError(offset: size, problem: "more than \(size) bytes") }
        var parser = JSONParser(bytes)
        self = try parser.document(depth: depth)
    }
}

/// Lives within one call, whose bytes it borrows.
private struct JSONParser {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func document(depth: Int) throws(JSONError) -> JSONValue {
        let value = try value(depth: depth)
        skipSpace()
        guard offset == bytes.count else { throw error("something behind the value") }
        return value
    }

    private func error(_ problem: String) -> JSONError { JSONError(offset: offset, problem: problem) }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        offset += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case nil: throw error("an end too early")
        case UInt8(ascii: "-"), 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39: return try number()
        default: throw error("no value")
        }
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let literal = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard bytes[offset...].starts(with: literal) else { throw error("no value") }
        offset += literal.count
        return value
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        guard depth > 0 else { throw error("too many values in each other") }
        offset += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return .array(elements) }
        while true {
            elements.append(try value(depth: depth - 1))
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw error("no comma and no end of the array") }
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        guard depth > 0 else { throw error("too many values in each other") }
        offset += 1
        var members: [JSONValue.Member] = []
        skipSpace()
        if take("}") { return .object(members) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw error("no name") }
            let name = try string()
            skipSpace()
            guard take(":") else { throw error("no colon") }
            members.append(JSONValue.Member(name, try value(depth: depth - 1)))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw error("no comma and no end of the object") }
        }
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = offset
        _ = take("-")
        if !take("0") { try digits() }
        var isWhole = true
        if take(".") {
            isWhole = false
            try digits()
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw error("a number that is too large") }
        return .number(number)
    }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { offset += 1 }
        guard offset > start else { throw error("no digit") }
    }

    private mutating func string() throws(JSONError) -> String {
        offset += 1
        let start = offset
        var text: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw JSONError(offset: start, problem: "a string that is not UTF-8")
                }
                return string
            case 0..<0x20: throw error("a control character in a string")
            case UInt8(ascii: "\\"):
                offset += 1
                try escape(into: &text)
            default:
                text.append(byte)
                offset += 1
            }
        }
        throw error("an end too early")
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw error("an end too early") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try scalar()).utf8)
        default: throw error("no escape")
        }
    }

    /// Behind `\u`.
    private mutating func scalar() throws(JSONError) -> Character {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(UInt32(first)) { return Character(scalar) }
        guard UTF16.isLeadSurrogate(first), take("\\"), take("u") else { throw error("half of a surrogate pair") }
        let second = try codeUnit()
        guard UTF16.isTrailSurrogate(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) & 0x3FF) << 10 + UInt32(second) & 0x3FF)
        else { throw error("half of a surrogate pair") }
        return Character(scalar)
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = FormFields.hexValue(byte) else { throw error("no hexadecimal digit") }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }
}

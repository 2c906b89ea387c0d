/// Splits a JSON document into tokens (RFC 8259 §2) without copying them: the formatter prints the document's own bytes.
struct JSONLexer {
    enum Token: Equatable {
        case beginArray, endArray, beginObject, endObject, colon, comma
        case string(Range<Int>)
        case number(Range<Int>)
        case literal(Range<Int>)
        case end
        /// Not JSON.
        case malformed
    }

    private let bytes: [UInt8]
    private var position: Int

    /// - Parameter bytes: valid UTF-8, which is not validated again.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // A byte order mark may be ignored (§8.1).
        position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    mutating func next() -> Token {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
        guard let byte = peek else { return .end }
        switch byte {
        case UInt8(ascii: "["): return mark(.beginArray)
        case UInt8(ascii: "]"): return mark(.endArray)
        case UInt8(ascii: "{"): return mark(.beginObject)
        case UInt8(ascii: "}"): return mark(.endObject)
        case UInt8(ascii: ":"): return mark(.colon)
        case UInt8(ascii: ","): return mark(.comma)
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        case UInt8(ascii: "t"): return literal("true")
        case UInt8(ascii: "f"): return literal("false")
        case UInt8(ascii: "n"): return literal("null")
        default: return .malformed
        }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func mark(_ token: Token) -> Token {
        position += 1
        return token
    }

    /// Reads a string with its quotes (§7).
    private mutating func string() -> Token {
        let start = position
        position += 1
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return .string(start..<position)
            case UInt8(ascii: "\\"): guard escape() else { return .malformed }
            case 0x00...0x1F: return .malformed
            default: break
            }
        }
        return .malformed
    }

    private mutating func escape() -> Bool {
        guard let byte = peek else { return false }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        case UInt8(ascii: "u"):
            for _ in 0..<4 {
                guard let digit = peek, Self.isHexDigit(digit) else { return false }
                position += 1
            }
            return true
        default: return false
        }
    }

    /// Reads a number (§6).
    private mutating func number() -> Token {
        let start = position
        skip("-")
        if !skip("0") { guard digits() else { return .malformed } }
        if skip(".") { guard digits() else { return .malformed } }
        if skip("e") || skip("E") {
            if !skip("+") { skip("-") }
            guard digits() else { return .malformed }
        }
        return .number(start..<position)
    }

    /// Skips at least one digit; false if there is none.
    private mutating func digits() -> Bool {
        let start = position
        while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        return position > start
    }

    @discardableResult
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func literal(_ text: StaticString) -> Token {
        let start = position
        position += text.utf8CodeUnitCount
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard position <= bytes.count, bytes[start..<position].elementsEqual(wanted) else { return .malformed }
        return .literal(start..<position)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}

/// Cuts a JSON text into tokens (RFC 8259 §2) without copying them, in time linear in the text's length. It checks the grammar of
/// each token. Its users check the tokens' order and depth, UTF-8, and surrogates.
package struct JSONLexer: ~Escapable {
    package enum Token: Equatable, Sendable {
        case beginArray, endArray, beginObject, endObject, colon, comma
        /// The range includes the quotation marks.
        case string(Range<Int>)
        case number(Range<Int>)
        /// `true`, `false` or `null`.
        case literal(Range<Int>)
        case end
    }

    package let bytes: Span<UInt8>
    private var position = 0
    /// The offset of the token that was read last.
    package private(set) var tokenStart = 0

    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    /// An error at the token that was read last.
    package func error(_ problem: String) -> JSONError { JSONError(offset: tokenStart, problem: problem) }

    @_lifetime(self: copy self)
    package mutating func next() throws(JSONError) -> Token {
        while let byte = peek, byte.isBlankOrLineBreak { position += 1 }
        tokenStart = position
        guard let byte = peek else { return .end }
        switch byte {
        case UInt8(ascii: "["): return mark(.beginArray)
        case UInt8(ascii: "]"): return mark(.endArray)
        case UInt8(ascii: "{"): return mark(.beginObject)
        case UInt8(ascii: "}"): return mark(.endObject)
        case UInt8(ascii: ":"): return mark(.colon)
        case UInt8(ascii: ","): return mark(.comma)
        case UInt8(ascii: "\""): return try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "t"): return try literal("true")
        case UInt8(ascii: "f"): return try literal("false")
        case UInt8(ascii: "n"): return try literal("null")
        default: throw error("expected a JSON value")
        }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func errorHere(_ problem: String) -> JSONError { JSONError(offset: position, problem: problem) }

    @_lifetime(self: copy self)
    private mutating func mark(_ token: Token) -> Token {
        position += 1
        return token
    }

    /// RFC 8259 §7.
    @_lifetime(self: copy self)
    private mutating func string() throws(JSONError) -> Token {
        position += 1
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return .string(tokenStart..<position)
            case UInt8(ascii: "\\"):
                position += 1
                try skipEscape()
            case 0x00...0x1F: throw errorHere("a control character in a string")
            default: position += 1
            }
        }
        throw errorHere("unexpected end")
    }

    @_lifetime(self: copy self)
    private mutating func skipEscape() throws(JSONError) {
        guard let byte = peek else { throw errorHere("unexpected end") }
        switch byte {
        case UInt8(ascii: "u"):
            position += 1
            for _ in 0..<4 {
                guard let digit = peek, digit.isHexDigit else {
                    throw errorHere("expected a hexadecimal digit")
                }
                position += 1
            }
        case _ where JSONEscape.character(byte) != nil: position += 1
        default: throw errorHere("an unknown escape")
        }
    }

    /// RFC 8259 §6.
    @_lifetime(self: copy self)
    private mutating func number() throws(JSONError) -> Token {
        skip("-")
        if !skip("0") { try digits() }
        if skip(".") { try digits() }
        if skip("e") || skip("E") {
            if !skip("+") { skip("-") }
            try digits()
        }
        return .number(tokenStart..<position)
    }

    /// Reads at least one digit.
    @_lifetime(self: copy self)
    private mutating func digits() throws(JSONError) {
        let start = position
        while let byte = peek, byte.isDigit { position += 1 }
        guard position > start else { throw errorHere("expected a digit") }
    }

    @discardableResult
    @_lifetime(self: copy self)
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    @_lifetime(self: copy self)
    private mutating func literal(_ text: StaticString) throws(JSONError) -> Token {
        for offset in 0..<text.utf8CodeUnitCount {
            guard peek == text.utf8Start[offset] else { throw error("expected a JSON value") }
            position += 1
        }
        return .literal(tokenStart..<position)
    }
}

/// The escapes in JSON's strings (RFC 8259 §7).
package enum JSONEscape {
    /// The byte for a one-letter escape (`\n`); nil if there is no such escape.
    static func character(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// Appends the scalar of an escape as UTF-8. For a lead surrogate, the `\u` escape of the trail surrogate that follows is
    /// read too.
    ///
    /// - Parameter index: the byte after the backslash. Moves to the byte after the escape.
    /// - Returns: false for an unknown escape and for an unpaired surrogate; then nothing is read.
    package static func decode(_ bytes: Span<UInt8>, at index: inout Int, into text: inout [UInt8]) -> Bool {
        guard index < bytes.count else { return false }
        guard bytes[index] == UInt8(ascii: "u") else {
            guard let character = character(bytes[index]) else { return false }
            text.append(character)
            index += 1
            return true
        }
        guard let first = codeUnit(bytes, at: index + 1) else { return false }
        if let scalar = Unicode.Scalar(UInt32(first)) {
            text.append(contentsOf: scalar.utf8)
            index += 5
            return true
        }
        guard UTF16.isLeadSurrogate(first), index + 6 < bytes.count, bytes[index + 5] == UInt8(ascii: "\\"),
            bytes[index + 6] == UInt8(ascii: "u"), let second = codeUnit(bytes, at: index + 7),
            UTF16.isTrailSurrogate(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) & 0x3FF) << 10 + UInt32(second) & 0x3FF)
        else { return false }
        text.append(contentsOf: scalar.utf8)
        index += 11
        return true
    }

    private static func codeUnit(_ bytes: Span<UInt8>, at index: Int) -> UInt16? {
        guard index + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for offset in 0..<4 {
            guard let digit = bytes[index + offset].hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}

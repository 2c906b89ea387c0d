public import NevodSupport

/// Takes bytes one piece after another: a ``ByteWriter``, an array of bytes, a hash, an HMAC. The formats of this kit write to any
/// of them. So a string to sign can go straight into its hash, and its length need not be known first.
///
/// ```swift
/// var message: [UInt8] = []
/// message.append(ascii: "t=")
/// message.append(time: request.unixNanoseconds, as: .iso8601)
/// ```
public protocol ByteSink: ~Copyable, ~Escapable {
    /// Appends bytes unchanged.
    @_lifetime(self: copy self)
    mutating func append(_ bytes: Span<UInt8>)
}

extension ByteWriter: ByteSink {}

extension Array: ByteSink where Element == UInt8 {
    /// Appends bytes unchanged.
    @inlinable
    public mutating func append(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}

extension ByteSink where Self: ~Copyable & ~Escapable {
    /// Appends a literal as UTF-8.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(ascii text: StaticString) {
        append(Span(_unsafeElements: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)))
    }

    /// Appends a text as UTF-8.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(text: String) {
        var text = text
        // Makes its bytes readable in place.
        text.makeContiguousUTF8()
        append(text.utf8Span.span)
    }

    /// Appends one byte.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(byte: UInt8) {
        append(InlineArray<1, UInt8>(repeating: byte).span)
    }

    /// Appends a number in decimal digits, with a minus sign if it is negative.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(decimal value: Int64) {
        // Filled from the last digit backwards; 20 bytes hold any number and its sign.
        var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "-"))
        var start = digits.count
        var rest = value.magnitude
        repeat {
            start -= 1
            digits[start] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        append(digits.span.extracting((value < 0 ? start - 1 : start)...))
    }

    /// Appends two lower-case hexadecimal digits for each byte.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(hex bytes: Span<UInt8>) {
        for index in bytes.indices {
            let digits: InlineArray<2, UInt8> = [Hexadecimal.digit(bytes[index] >> 4), Hexadecimal.digit(bytes[index] & 15)]
            append(digits.span)
        }
    }

    /// Appends two upper-case hexadecimal digits for each byte.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(upperCaseHex bytes: Span<UInt8>) {
        for index in bytes.indices {
            let digits: InlineArray<2, UInt8> = [
                Hexadecimal.upperCaseDigit(bytes[index] >> 4), Hexadecimal.upperCaseDigit(bytes[index] & 15),
            ]
            append(digits.span)
        }
    }

    /// Appends base64 with padding (RFC 4648 §4).
    @_lifetime(self: copy self)
    public mutating func append(base64 bytes: Span<UInt8>) {
        appendBase64(bytes, .standard)
        for _ in 0..<(3 - bytes.count % 3) % 3 { append(ascii: "=") }
    }

    /// Appends base64url without padding (RFC 4648 §5).
    @_lifetime(self: copy self)
    public mutating func append(base64URL bytes: Span<UInt8>) {
        appendBase64(bytes, .url)
    }

    @_lifetime(self: copy self)
    private mutating func appendBase64(_ bytes: Span<UInt8>, _ alphabet: Base64.Alphabet) {
        var start = 0
        while start < bytes.count {
            // Three bytes are four digits; only the last group may be shorter.
            let group = bytes.extracting(start..<min(start + 3, bytes.count))
            var digits = InlineArray<4, UInt8>(repeating: 0)
            var place = digits.mutableSpan
            place.withUnsafeMutableBufferPointer { place in
                if let place = place.baseAddress { Base64.encode(group, alphabet, to: place) }
            }
            append(digits.span.extracting(first: Base64.digitCount(group.count)))
            start += 3
        }
    }
}

extension ByteSink where Self: ~Copyable & ~Escapable {
    /// Appends text with its ASCII letters in lower case, as signature formats write the names of fields.
    @_lifetime(self: copy self)
    public mutating func append(lowercased text: Span<UInt8>) {
        for index in text.indices { append(byte: text[index].lowercased) }
    }

    /// Appends a field's value without white space around it, and with one space for each run of spaces and tabs within.
    @_lifetime(self: copy self)
    public mutating func append(collapsed value: Span<UInt8>) {
        var isFirst = true
        var start = 0
        for index in 0...value.count where index == value.count || value[index].isBlank {
            if start < index {
                if !isFirst { append(ascii: " ") }
                isFirst = false
                append(value.extracting(start..<index))
            }
            start = index + 1
        }
    }
}

/// Base64url (RFC 4648 §5) without padding, as JOSE and OAuth write bytes.
public enum Base64URL {
    /// Encodes three bytes as four characters, without padding.
    public static func encoded(_ bytes: Span<UInt8>) -> String {
        withByteWriter(capacity: Base64.digitCount(bytes.count)) { writer in
            writer.append(base64URL: bytes)
            return writer.bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// The same for an array.
    public static func encoded(_ bytes: [UInt8]) -> String { encoded(bytes.span) }

    /// The bytes that a text encodes.
    ///
    /// - Returns: nil for anything else: padding, another alphabet, or trailing bits that encode nothing (RFC 4648 §3.5).
    public static func decoded(_ text: some StringProtocol) -> [UInt8]? {
        Base64.decoded(Array(text.utf8), .strictURL)
    }
}

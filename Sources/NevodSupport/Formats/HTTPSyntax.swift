extension UInt8 {
    /// Whether a token may contain the byte. Tokens are the names of methods, fields and cookies (RFC 9110 §5.6.2).
    @inlinable
    package var isTokenByte: Bool {
        self < 128 && tokenBytes.utf8Start[Int(self)] == UInt8(ascii: "1")
    }

    /// Whether a field's value may contain the byte (RFC 9110 §5.5).
    @inlinable
    package var isFieldByte: Bool { !isControl || self == 0x09 }

    /// Whether clients send the byte in a cookie (RFC 6265 §5.2).
    @inlinable
    package var isCookieByte: Bool { !isControl && self != UInt8(ascii: ";") }
}

/// A digit for each of the first 128 bytes, from NUL to "?" and from "@" to DEL. This was the fastest of the forms that were
/// tried.
@usableFromInline
package let tokenBytes: StaticString = """
    0000000000000000000000000000000001011111001101101111111111000000\
    0111111111111111111111111110001111111111111111111111111111101010
    """

/// A media type without its parameters (RFC 9110 §8.3.1), in lower case, so that equal types compare as equal.
package struct MediaType: Sendable, Hashable {
    private let bytes: [UInt8]

    /// Reads the value of a Content-Type line; nil if it is malformed.
    package init?(contentType: some BidirectionalCollection<UInt8>) {
        // Optional white space is allowed around the semicolon (§5.6.6).
        let bytes = contentType.prefix { $0 != UInt8(ascii: ";") }.trimmedOfBlanks.map { $0.lowercased }
        let parts = bytes.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isTokenByte } }) else { return nil }
        self.bytes = bytes
    }

    /// Reads the name of a type, at most 255 bytes. Parameters, and ranges such as `text/*`, are invalid.
    package init?(name: some BidirectionalCollection<UInt8>) {
        guard name.count <= 255, !name.contains(where: { $0.isBlank || $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "*") })
        else { return nil }
        self.init(contentType: name)
    }
}

/// The header lines that only the host sets. They frame the message, control the connection, or are for a proxy (RFC 9110 §7.6.1,
/// RFC 9112 §6).
package enum TransportHeader {
    /// Whether a name, in upper or lower case, is one of them.
    package static func has(_ name: some Collection<UInt8>) -> Bool { Array(name).withUnsafeBufferPointer { has($0) } }

    package static func areEqual(_ name: some Collection<UInt8>, _ known: StaticString) -> Bool {
        Array(name).withUnsafeBufferPointer { areEqual($0, known) }
    }

    // Without generics: the compiler specialises them in their own module alone, and that would cost each signature 5,000
    // instructions.
    package static func has(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        switch name.count {
        case 2: areEqual(name, "te")
        case 4: areEqual(name, "host")
        case 6: areEqual(name, "expect")
        case 7: areEqual(name, "upgrade") || areEqual(name, "trailer")
        case 10: areEqual(name, "connection") || areEqual(name, "keep-alive")
        case 14: areEqual(name, "content-length")
        case 16: areEqual(name, "proxy-connection")
        case 17: areEqual(name, "transfer-encoding")
        case 19: areEqual(name, "proxy-authorization")
        default: false
        }
    }

    package static func areEqual(_ name: UnsafeBufferPointer<UInt8>, _ known: StaticString) -> Bool {
        guard name.count == known.utf8CodeUnitCount else { return false }
        for index in name.indices where name[index].lowercased != known.utf8Start[index] { return false }
        return true
    }
}

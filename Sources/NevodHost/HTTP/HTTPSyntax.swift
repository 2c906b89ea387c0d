internal import NevodSupport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The RFC 9110 grammar for methods and header lines, shared by callers, tokens and plugins.
enum HTTPSyntax {
    /// Whether the text is a token, as method and field names are (RFC 9110 §5.6.2).
    static func isToken(_ text: String) -> Bool {
        var text = text
        return text.withUTF8(isToken)
    }

    static func isToken(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return false }
        var offset = 0
        while offset < bytes.count {
            guard start[offset].isTokenByte else { return false }
            offset += 1
        }
        return true
    }

    /// Whether the text can be a field value (RFC 9110 §5.5): no CR, LF or NUL, which would end it, and no control character
    /// except tab.
    static func isFieldValue(_ text: String) -> Bool {
        var text = text
        return text.withUTF8(isFieldValue)
    }

    static func isFieldValue(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = UnsafeRawPointer(bytes.baseAddress) else { return true }
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if mayHoldControl(word) {
                for index in offset..<offset + 8 where !bytes[index].isFieldByte { return false }
            }
            offset += 8
        }
        while offset < bytes.count {
            if !bytes[offset].isFieldByte { return false }
            offset += 1
        }
        return true
    }

    /// Returns a field value without surrounding white space, which isn't part of it (RFC 9110 §5.5).
    static func trimmed(_ value: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: value.trimmedOfBlanks)
    }

    /// Checks eight bytes at once for one below 0x20 or equal to 0x7F. Has no false negatives, but may have false positives.
    @inline(__always)
    private static func mayHoldControl(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highBits: UInt64 = 0x8080_8080_8080_8080
        let belowSpace = (word &- (ones &* 0x20)) & ~word
        let deleted = word ^ (ones &* 0x7F)
        return (belowSpace | ((deleted &- ones) & ~deleted)) & highBits != 0
    }

    /// Whether a cookie's value can have the byte (RFC 6265 §4.1.1).
    static func isCookieOctet(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\\"): false
        default: byte.isVisible
        }
    }

    /// Compares field names, ignoring ASCII case (RFC 9110 §5.1).
    static func namesEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        guard let start = left.baseAddress, let other = right.baseAddress else { return true }
        // Fast path: the spelling is nearly always the same.
        if memcmp(start, other, left.count) == 0 { return true }
        for index in left.indices where left[index] != right[index] && left[index].lowercased != right[index].lowercased {
            return false
        }
        return true
    }
}

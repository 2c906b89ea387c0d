/// The grammar of RFC 9110 that decides what may stand in a head. One place, for callers, tokens and plugins alike.
enum HTTPSyntax {
    /// A token (RFC 9110 §5.6.2): a method's or a field's name.
    static func isToken(_ bytes: some Sequence<UInt8>) -> Bool {
        var isEmpty = true
        for byte in bytes {
            guard isTokenByte(byte) else { return false }
            isEmpty = false
        }
        return !isEmpty
    }

    /// What may stand in a field's value (RFC 9110 §5.5): no CR, LF or NUL, which end it, and no other control but tab.
    static func isFieldValue(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"),
            UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }

    /// Names of fields compare without regard to ASCII case (RFC 9110 §5.1).
    static func namesEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] && lowercased(left[index]) != lowercased(right[index]) {
            return false
        }
        return true
    }
}

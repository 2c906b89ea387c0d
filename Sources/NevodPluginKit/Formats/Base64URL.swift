/// RFC 4648 §5 without padding, as JOSE and OAuth write bytes.
public enum Base64URL {
    /// Three bytes as four characters, without padding.
    public static func encoded(_ bytes: Span<UInt8>) -> String {
        withByteWriter(capacity: (bytes.count * 4 + 2) / 3) { writer in
            writer.append(base64URL: bytes)
            return writer.bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// The same, of an array.
    public static func encoded(_ bytes: [UInt8]) -> String { encoded(bytes.span) }

    /// - Returns: nil for anything else: padding, another alphabet, bits at the end that stand for nothing (RFC 4648 §3.5).
    public static func decoded(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count) = (UInt32(0), 0)
        for byte in text.utf8 {
            guard let digit = value(byte) else { return nil }
            bits = bits << 6 | digit
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            bits &= 1 << UInt32(count) - 1
        }
        return count < 6 && bits == 0 ? bytes : nil
    }

    private static func value(_ digit: UInt8) -> UInt32? {
        switch digit {
        case 0x41...0x5A: UInt32(digit) - 0x41
        case 0x61...0x7A: UInt32(digit) - 0x61 + 26
        case 0x30...0x39: UInt32(digit) - 0x30 + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

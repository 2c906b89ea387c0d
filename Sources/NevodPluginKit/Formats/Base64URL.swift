internal import NevodSupport

/// RFC 4648 §5 without padding, as JOSE and OAuth write bytes.
public enum Base64URL {
    /// Three bytes as four characters, without padding.
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
    /// - Returns: nil for anything else: padding, another alphabet, bits at the end that encode nothing (RFC 4648 §3.5).
    public static func decoded(_ text: some StringProtocol) -> [UInt8]? {
        Base64.decoded(Array(text.utf8), .strictURL)
    }
}

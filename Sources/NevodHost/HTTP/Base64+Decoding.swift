internal import COpenSSL

extension Base64 {
    /// Decodes padded base64 (RFC 4648 §4); nil for anything else.
    static func decoded(_ text: [UInt8]) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        guard !text.isEmpty else { return [] }
        var bytes = [UInt8](repeating: 0, count: text.count / 4 * 3)
        let count = EVP_DecodeBlock(&bytes, text, Int32(clamping: text.count))
        guard count >= 0 else { return nil }
        // libcrypto counts the padding as bytes.
        return Array(bytes.prefix(Int(count) - text.suffix(2).count { $0 == UInt8(ascii: "=") }))
    }
}

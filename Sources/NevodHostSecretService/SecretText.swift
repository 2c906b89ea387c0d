internal import COpenSSL
internal import NevodSupport

/// Encodes bytes for a keyring as text that is never empty: `base64:` and base64 (RFC 4648 §4). Several services reject NUL bytes, and
/// some reject anything but UTF-8.
enum SecretText {
    private static let prefix = Array("base64:".utf8)

    static func text(of secret: Secret) -> Secret {
        secret.withUnsafeBytes { bytes in
            let count = prefix.count + (bytes.count + 2) / 3 * 4
            return withWiped(count) { text in
                _ = text.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "="))
                text.copyBytes(from: prefix)
                if let start = text.baseAddress?.assumingMemoryBound(to: UInt8.self) {
                    Base64.encode(Span(_unsafeBytes: bytes), .standard, to: start + prefix.count)
                }
                return Secret(copying: UnsafeRawBufferPointer(text))
            }
        }
    }

    /// - Returns: nil if the text has another form.
    static func secret(of text: Secret) -> Secret? {
        text.withUnsafeBytes { text in
            guard text.starts(with: prefix) else { return nil }
            let digits = UnsafeRawBufferPointer(rebasing: text[prefix.count...])
            guard digits.count.isMultiple(of: 4), let length = Int32(exactly: digits.count) else { return nil }
            guard !digits.isEmpty else { return Secret("") }
            let padding = digits.suffix(2).count { $0 == UInt8(ascii: "=") }
            let count = digits.count / 4 * 3
            return withWiped(count) { bytes in
                let decoded = EVP_DecodeBlock(
                    bytes.bindMemory(to: UInt8.self).baseAddress, digits.bindMemory(to: UInt8.self).baseAddress, length)
                guard Int(decoded) == count else { return nil }
                return Secret(copying: UnsafeRawBufferPointer(rebasing: bytes[..<(count - padding)]))
            }
        }
    }

    private static func withWiped<Result>(
        _ count: Int, _ body: (UnsafeMutableRawBufferPointer) -> Result
    ) -> Result {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer {
            memory.wipe()
            memory.deallocate()
        }
        return body(memory)
    }
}

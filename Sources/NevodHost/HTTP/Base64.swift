internal import COpenSSL

enum Base64 {
    /// Encodes as padded base64 without line breaks (RFC 4648 §4).
    static func encoded(_ bytes: UnsafeRawBufferPointer) -> String {
        guard !bytes.isEmpty else { return "" }
        return String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4 + 1) { text in
            Int(EVP_EncodeBlock(text.baseAddress, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)))
        }
    }
}

internal import COpenSSL

enum Base64 {
    /// RFC 4648 §4, with padding and without line breaks.
    static func encoded(_ bytes: UnsafeRawBufferPointer) -> String {
        guard !bytes.isEmpty else { return "" }
        return String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4 + 1) { text in
            Int(EVP_EncodeBlock(text.baseAddress, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)))
        }
    }
}

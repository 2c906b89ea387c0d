internal import COpenSSL

/// Why a key or an operation of libcrypto failed.
package struct CryptoError: Error, Sendable {
    /// Names the part of the key, but shows nothing that it contains.
    package let message: String
    /// libcrypto's own message; empty if the cause isn't libcrypto's.
    package let detail: String

    package init(_ message: String) {
        self.message = message
        detail = ""
    }

    /// Adds the oldest error in this thread's queue of libcrypto errors.
    package init(libcrypto message: String) {
        self.message = message
        detail = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            guard let start = text.baseAddress else { return "" }
            text.initialize(repeating: 0)
            ERR_error_string_n(ERR_get_error(), start, text.count)
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}

extension StaticString {
    /// The text as a C string, with a NUL at its end.
    package var characters: UnsafePointer<CChar> { UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) }
}

extension UnsafeRawBufferPointer {
    /// The bytes as libcrypto takes them.
    package var bytes: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

internal import COpenSSL

/// Why a key or an operation of libcrypto failed.
package struct CryptoError: Error, Sendable {
    /// Names the part of the key, and nothing that it contains.
    package let message: String
    /// libcrypto's own message; empty if the cause isn't libcrypto's.
    package let detail: String

    package init(_ message: String) {
        self.message = message
        detail = ""
    }

    /// Takes the oldest error from libcrypto's queue of this thread along.
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

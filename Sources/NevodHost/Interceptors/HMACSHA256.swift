internal import COpenSSL
internal import NevodSupport

/// HMAC with SHA-256 (RFC 2104, FIPS 198-1), computed by libcrypto. Many services require requests to be signed with it.
///
/// ```swift
/// let signature = try HMACSHA256.hexCode(of: body + timestamp.utf8, key: secret.utf8)
/// ```
public enum HMACSHA256 {
    /// Returns the code of a message: 32 bytes.
    ///
    /// - Throws: if libcrypto refuses, for example in a mode that requires longer keys.
    public static func code(of message: some Sequence<UInt8>, key: some Sequence<UInt8>) throws -> [UInt8] {
        let message = Array(message)
        var key = Array(key)
        defer { key.withUnsafeMutableBytes { $0.wipe() } }
        var code = [UInt8](repeating: 0, count: 32)
        var count = 0
        let done = EVP_Q_mac(
            nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &code, code.count, &count)
        guard done != nil, count == 32 else { throw Unavailable() }
        return code
    }

    /// Returns the code of a message as 64 hexadecimal digits, in lower case.
    ///
    /// - Throws: as ``code(of:key:)`` does.
    public static func hexCode(of message: some Sequence<UInt8>, key: some Sequence<UInt8>) throws -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = try code(of: message, key: key).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    private struct Unavailable: Error, CustomStringConvertible {
        var description: String { "libcrypto can't compute an HMAC-SHA-256 with this key" }
    }
}

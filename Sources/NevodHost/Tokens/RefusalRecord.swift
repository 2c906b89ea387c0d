internal import COpenSSL
internal import NevodSupport

/// A note in a storage that several processes share: the server has refused to renew a token. A process that waited for that renewal finds
/// it, and doesn't try itself: an account may be locked after a few attempts. One that begins later has nothing to do with that token.
///
/// The token is named by a code with a fresh key, so that the note tells nothing about it.
struct RefusalRecord {
    private static let form: UInt8 = 1
    private static let keyCount = 16
    private static let codeCount = 32
    private static let mostReason = 4096

    let reason: String
    private let key: [UInt8]
    private let code: [UInt8]

    /// - Parameter token: the stored bytes of the token that was refused.
    init?(_ token: Secret, reason: String) {
        var key = [UInt8](repeating: 0, count: Self.keyCount)
        guard RAND_bytes(&key, Int32(clamping: key.count)) == 1, let code = Self.code(of: token, key) else { return nil }
        self.key = key
        self.code = code
        self.reason = String(decoding: reason.utf8.prefix(Self.mostReason), as: UTF8.self)
    }

    init?(stored: Secret) {
        let bytes = stored.withUnsafeBytes { Array($0) }
        let head = 1 + Self.keyCount + Self.codeCount
        guard bytes.count >= head, bytes[0] == Self.form else { return nil }
        key = Array(bytes[1...Self.keyCount])
        code = Array(bytes[(1 + Self.keyCount)..<head])
        reason = String(decoding: bytes[head...].prefix(Self.mostReason), as: UTF8.self)
    }

    var stored: Secret { Secret(copying: [Self.form] + key + code + Array(reason.utf8)) }

    /// Whether the note is about the token with these stored bytes.
    func names(_ token: Secret) -> Bool { Self.code(of: token, key) == code }

    private static func code(of token: Secret, _ key: [UInt8]) -> [UInt8]? {
        token.withUnsafeBytes { token in
            var code = [UInt8](repeating: 0, count: codeCount)
            var count = 0
            let done = EVP_Q_mac(
                nil, "HMAC", nil, "SHA256", nil, key, key.count,
                token.assumingMemoryBound(to: UInt8.self).baseAddress, token.count, &code, code.count, &count)
            return done != nil && count == codeCount ? code : nil
        }
    }
}

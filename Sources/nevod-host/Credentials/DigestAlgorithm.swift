import COpenSSL
import NevodSupport

/// The algorithm of a digest challenge (RFC 7616 §3.3): a hash function, and whether the key is made for a session.
struct DigestAlgorithm: Equatable {
    /// As the server wrote it; nil if it wrote none, which means MD5.
    let name: String?
    private let function: String
    let isForSession: Bool

    /// Returns nil for an algorithm that is unknown.
    init?(_ name: String?) {
        let text = (name ?? "MD5").lowercased()
        isForSession = text.hasSuffix("-sess")
        switch isForSession ? String(text.dropLast(5)) : text {
        case "md5": function = "MD5"
        case "sha-256": function = "SHA256"
        case "sha-512-256": function = "SHA512-256"
        default: return nil
        }
        self.name = name
    }

    /// Returns the hash of a text as hexadecimal digits in lower case; nil if libcrypto refuses the function, as it does MD5 where
    /// only approved functions are allowed.
    func hex(_ text: [UInt8]) -> String? {
        var digest = [UInt8](repeating: 0, count: 64)
        var count = 0
        guard EVP_Q_digest(nil, function, nil, text, text.count, &digest, &count) == 1, count <= digest.count else { return nil }
        return Hexadecimal.text(digest[..<count])
    }
}

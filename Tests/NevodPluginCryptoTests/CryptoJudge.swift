import Foundation
import NevodTestSupport

/// The verdicts of Python's hashlib, hmac and cryptography, and of the openssl command.
enum CryptoJudge {
    struct HashCase: Decodable {
        let hash, message, key, salt, info, digest, code, derived: String
        let count: Int
    }

    struct KeyCase: Decodable {
        struct Signed: Decodable {
            let kind, hash, signature: String
        }

        let `private`, encrypted: [String]
        let `public`, jwk, message, openssl: String
        let signatures: [Signed]
    }

    struct Claim: Encodable {
        let `public`, message, signature, kind, hash: String
    }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Judges/crypto.py").path

    static func hashes(seed: Int) throws -> [HashCase] {
        try JSONDecoder().decode([HashCase].self, from: Data(Command.output(["python3", script, "hashes", "\(seed)"]).utf8))
    }

    static func keys(seed: Int) throws -> [KeyCase] {
        try JSONDecoder().decode([KeyCase].self, from: Data(Command.output(["python3", script, "keys", "\(seed)"]).utf8))
    }

    /// Whether each signature is valid.
    static func verdicts(_ claims: [Claim]) throws -> [Bool] {
        let file = FileManager.default.temporaryDirectory.appending(path: "claims-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try JSONEncoder().encode(claims).write(to: file)
        let output = try Command.output(["sh", "-c", "exec python3 \"$0\" verify < \"$1\"", script, file.path])
        return try JSONDecoder().decode([Bool].self, from: Data(output.utf8))
    }
}

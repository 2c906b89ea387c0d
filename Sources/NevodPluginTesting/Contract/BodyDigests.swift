internal import COpenSSL

/// Digests of bodies, by their names in the registry of RFC 9530.
package enum BodyDigests {
    private static let algorithms = ["sha-256": "SHA256", "sha-384": "SHA384", "sha-512": "SHA512"]

    /// Returns nil for an algorithm that no host of this contract knows, and if libcrypto fails.
    package static func digest(_ name: [UInt8], of body: [UInt8]) -> [UInt8]? {
        guard let algorithm = algorithms[String(decoding: name, as: UTF8.self)] else { return nil }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count = digest.count
        guard EVP_Q_digest(nil, algorithm, nil, body, body.count, &digest, &count) == 1 else { return nil }
        return Array(digest.prefix(count))
    }
}

import COpenSSL
import NevodHost
import NevodPluginKit
import NevodSupport

/// A challenge of the Digest scheme, and the response to it (RFC 7616). The password goes into a hash and never into a request.
struct DigestChallenge: Equatable {
    let nonce: String
    let realm: String
    private let opaque: String?
    private let algorithm: DigestAlgorithm
    /// Whether the server offers `qop=auth`. Otherwise the response follows RFC 2069, for old servers.
    private let hasQuality: Bool
    private let hashesUser: Bool
    /// Whether the password was right, and only the nonce was too old.
    let isStale: Bool

    /// Uses the first challenge that is supported (RFC 7616 §3.7); nil if there is none.
    ///
    /// - Parameter lines: the values of the response's `WWW-Authenticate` lines.
    init?(_ lines: [String]) {
        for challenge in Challenge.parse(lines) where challenge.isOf("Digest") {
            guard let nonce = challenge["nonce"], let algorithm = DigestAlgorithm(challenge["algorithm"]) else { continue }
            let qualities = challenge["qop"]?.split(separator: ",").map { $0.utf8.withoutSpaceAround.lowercased() }
            guard qualities?.contains("auth") != false else { continue }
            self.nonce = nonce
            self.algorithm = algorithm
            realm = challenge["realm"] ?? ""
            opaque = challenge["opaque"]
            hasQuality = qualities != nil
            hashesUser = challenge["userhash"]?.lowercased() == "true"
            isStale = challenge["stale"]?.lowercased() == "true"
            return
        }
        return nil
    }

    /// Returns the value of the Authorization line, with the parameters in curl's order; nil if the hash function is not available.
    ///
    /// - Parameters:
    ///   - userAndPassword: the name and the password, separated by the first colon.
    ///   - method: the method of the request.
    ///   - target: the request-target, exactly as it is sent.
    ///   - count: the number of requests that have used the nonce, this one included.
    ///   - clientNonce: random text.
    func authorization(
        _ userAndPassword: Secret, method: String, target: String, count: Int, clientNonce: String
    ) -> String? {
        let known = userAndPassword.withUnsafeBytes { Array($0) }
        let user = Array(known.prefix { $0 != UInt8(ascii: ":") })
        let password = Array(known.dropFirst(user.count + 1))
        guard var key = algorithm.hex(user + Array(":\(realm):".utf8) + password) else { return nil }
        if algorithm.isForSession {
            guard let session = algorithm.hex(Array("\(key):\(nonce):\(clientNonce)".utf8)) else { return nil }
            key = session
        }
        let number = count.padded(to: 8, radix: 16)
        let middle = hasQuality ? "\(nonce):\(number):\(clientNonce):auth" : nonce
        guard let action = algorithm.hex(Array("\(method):\(target)".utf8)),
            let response = algorithm.hex(Array("\(key):\(middle):\(action)".utf8)),
            let name = hashesUser ? algorithm.hex(user + Array(":\(realm)".utf8)) : String(decoding: user, as: UTF8.self)
        else { return nil }
        var fields = [
            "username=\(Self.quoted(name))", "realm=\(Self.quoted(realm))", "nonce=\(Self.quoted(nonce))",
            "uri=\(Self.quoted(target))",
        ]
        if hasQuality { fields += ["cnonce=\(Self.quoted(clientNonce))", "nc=\(number)", "qop=auth"] }
        fields.append("response=\"\(response)\"")
        if let opaque { fields.append("opaque=\(Self.quoted(opaque))") }
        if let name = algorithm.name { fields.append("algorithm=\(name)") }
        if hashesUser { fields.append("userhash=true") }
        return "Digest " + fields.joined(separator: ", ")
    }

    /// A quoted string (RFC 9110 §5.6.4).
    private static func quoted(_ text: String) -> String {
        "\"" + text.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
    }
}

/// The algorithm of a digest challenge (RFC 7616 §3.3): a hash function, and whether the key is made for a session.
struct DigestAlgorithm: Equatable {
    /// The name as the server wrote it; nil if it wrote no name, which means MD5.
    let name: String?
    private let function: String
    let isForSession: Bool

    /// Returns nil for an unknown algorithm.
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

    /// Returns the hash of a text as hexadecimal digits in lower case; nil if libcrypto refuses the function, as it refuses MD5
    /// where only approved functions are allowed.
    func hex(_ text: [UInt8]) -> String? {
        var digest = [UInt8](repeating: 0, count: 64)
        var count = 0
        guard EVP_Q_digest(nil, function, nil, text, text.count, &digest, &count) == 1, count <= digest.count else { return nil }
        return Hexadecimal.text(digest[..<count])
    }
}

// Adding New Authentication Types: Complete Example: HMAC Signature Auth
import Foundation
import NevodHostFoundation

/// In place of CryptoKit, which Linux doesn't have.
private enum Signature {
    static func code(for message: Data, using key: Data) -> Data { Data((message + key).reversed()) }
}

private struct SignedToken: TokenModel {
    let keyID: String
    let secret: String

    func authorize(_ request: inout URLRequest) {
        let timestamp = String(Int(Date().timeIntervalSince1970))
        let method = request.httpMethod ?? "GET"
        let path = request.url?.path ?? ""
        let bodyHash = request.httpBody?.hexText ?? ""
        let message = "\(method)\n\(path)\n\(timestamp)\n\(bodyHash)"
        let signature = Signature.code(for: Data(message.utf8), using: Data(secret.utf8)).hexText
        request.setValue(keyID, forHTTPHeaderField: "X-Shop-Key")
        request.setValue(timestamp, forHTTPHeaderField: "X-Shop-Time")
        request.setValue(signature, forHTTPHeaderField: "X-Shop-Signature")
    }

    func encode() throws -> Data {
        try JSONEncoder().encode(["id": keyID, "secret": secret])
    }

    static func decode(from data: Data) throws -> Self {
        let fields = try JSONDecoder().decode([String: String].self, from: data)
        return SignedToken(keyID: fields["id"] ?? "", secret: fields["secret"] ?? "")
    }
}

extension Data {
    fileprivate var hexText: String {
        map { String(format: "%02x", $0) }.joined()
    }
}

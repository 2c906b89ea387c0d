import Foundation
import NevodHostFoundation

#if canImport(CryptoKit)
    import CryptoKit
#endif

struct HMACToken: TokenModel {
    static let phase = TokenPhase.signature

    let apiKey: String
    let secret: String

    func authorize(_ request: inout URLRequest) {
        let timestamp = String(Int(Date().timeIntervalSince1970))

        let method = request.httpMethod ?? "GET"
        let path = request.url?.path ?? ""
        let bodyHash = request.httpBody?.sha256Hex ?? ""
        let message = "\(method)\n\(path)\n\(timestamp)\n\(bodyHash)"

        let key = SymmetricKey(data: Data(secret.utf8))
        let signature = HMAC<SHA256>.authenticationCode(for: Data(message.utf8), using: key)

        request.setValue(apiKey, forHTTPHeaderField: "X-API-Key")
        request.setValue(timestamp, forHTTPHeaderField: "X-Timestamp")
        request.setValue(Data(signature).hexString, forHTTPHeaderField: "X-Signature")
    }

    func encode() throws -> Data {
        try JSONEncoder().encode(["key": apiKey, "secret": secret])
    }

    static func decode(from data: Data) throws -> Self {
        let dict = try JSONDecoder().decode([String: String].self, from: data)
        return HMACToken(apiKey: dict["key"] ?? "", secret: dict["secret"] ?? "")
    }
}

extension Data {
    var sha256Hex: String {
        SHA256.hash(data: self).compactMap { String(format: "%02x", $0) }.joined()
    }

    var hexString: String {
        map { String(format: "%02x", $0) }.joined()
    }
}

func hmacInterceptor(keychain: some KeyValueStorage) async throws -> AuthenticationInterceptor<HMACToken> {
    let storage = TokenStorage<HMACToken>(storage: keychain, key: .hmac)
    try await storage.save(HMACToken(apiKey: "key", secret: "secret"))

    return AuthenticationInterceptor(
        tokenStorage: storage,
        refreshStrategy: { _ in throw NetworkError.unauthorized },
        shouldAuthenticate: { $0.url?.host == "signed.example.com" }
    )
}

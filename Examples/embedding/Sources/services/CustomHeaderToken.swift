import Foundation
import NevodHostFoundation

struct CustomHeaderToken: TokenModel {
    let clientID: String
    let clientSecret: String

    func authorize(_ request: inout URLRequest) {
        request.setValue(clientID, forHTTPHeaderField: "X-Client-ID")
        request.setValue(clientSecret, forHTTPHeaderField: "X-Client-Secret")
    }

    func encode() throws -> Data {
        try JSONEncoder().encode(["id": clientID, "secret": clientSecret])
    }

    static func decode(from data: Data) throws -> Self {
        let dict = try JSONDecoder().decode([String: String].self, from: data)
        return CustomHeaderToken(clientID: dict["id"] ?? "", clientSecret: dict["secret"] ?? "")
    }
}

/// Credentials that don't expire. The strategy returns the same token, which tells the host that there is no other.
func customHeaderInterceptor(keychain: some KeyValueStorage) async throws -> AuthenticationInterceptor<CustomHeaderToken> {
    let storage = TokenStorage<CustomHeaderToken>(
        storage: keychain,
        key: StorageKey(value: "custom_header_token")
    )
    try await storage.save(CustomHeaderToken(clientID: "abc123", clientSecret: "secret456"))

    return AuthenticationInterceptor(
        tokenStorage: storage,
        refreshStrategy: { oldToken in
            guard let token = oldToken else {
                throw NetworkError.unauthorized
            }
            return token
        },
        shouldAuthenticate: { $0.url?.host == "partner.example.com" }
    )
}

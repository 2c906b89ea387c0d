import Foundation
import NevodHostFoundation

/// A token type of this program. (NevodHost has an OAuthToken too; a program's own type takes precedence.)
struct OAuthToken: TokenModel, Codable {
    let accessToken: String
    let refreshToken: String
    let expiresAt: Date

    func authorize(_ request: inout URLRequest) {
        request.setValue("Bearer \(accessToken)", forHTTPHeaderField: "Authorization")
    }

    func encode() throws -> Data {
        try JSONEncoder().encode(self)
    }

    static func decode(from data: Data) throws -> Self {
        try JSONDecoder().decode(Self.self, from: data)
    }
}

struct OAuthResponse: Decodable {
    let accessToken: String
    let refreshToken: String
    let expiresIn: TimeInterval
}

let baseClient = NetworkProvider.quick(baseURL: "http://api.example.com")

func oauthInterceptor(keychain: some KeyValueStorage) async throws -> AuthenticationInterceptor<OAuthToken> {
    let oauthStorage = TokenStorage<OAuthToken>(storage: keychain)
    try await oauthStorage.save(
        OAuthToken(accessToken: "a1", refreshToken: "r1", expiresAt: Date().addingTimeInterval(3600)))

    return AuthenticationInterceptor(
        tokenStorage: oauthStorage,
        refreshStrategy: { oldToken in
            guard let oldToken = oldToken else { throw NetworkError.unauthorized }

            let response: OAuthResponse = try await baseClient.request(
                .post,
                path: "/oauth/refresh",
                body: ["refresh_token": oldToken.refreshToken]
            )

            return OAuthToken(
                accessToken: response.accessToken,
                refreshToken: response.refreshToken,
                expiresAt: Date().addingTimeInterval(response.expiresIn)
            )
        },
        shouldAuthenticate: { $0.url?.host == "api.example.com" }
    )
}

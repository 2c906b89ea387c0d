// Token / TokenModel: `CookieToken.authorize(&URLRequest)`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private func request() throws -> URLRequest {
        guard let url = URL(string: "https://shop.example/cart") else { throw NetworkError.invalidURL }
        return URLRequest(url: url)
    }

    private func use() async throws {
        var carried = try request()
        CookieToken(sessionCookies: []).authorize(&carried)
    }
#else
    private func request() throws -> URLRequest {
        guard let url = URL(string: "https://shop.example/cart") else { throw NetworkError.invalidURL }
        return URLRequest(url: url)
    }

    private func use() async throws {
        var carried = try request()
        try CookieToken(sessionCookies: []).authorize(&carried)
    }
#endif

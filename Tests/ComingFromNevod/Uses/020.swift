// Token / TokenModel: `TokenModel generic use f<T: TokenModel> authorize(&URLRequest)`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private func request() throws -> URLRequest {
        guard let url = URL(string: "https://shop.example/cart") else { throw NetworkError.invalidURL }
        return URLRequest(url: url)
    }

    private func signed<T: TokenModel>(_ request: URLRequest, by token: T) throws -> URLRequest {
        var request = request
        token.authorize(&request)
        return request
    }

    private func use() async throws {
        print(try signed(request(), by: Token(value: "abc")))
    }
#else
    private func request() throws -> URLRequest {
        guard let url = URL(string: "https://shop.example/cart") else { throw NetworkError.invalidURL }
        return URLRequest(url: url)
    }

    private func signed<T: TokenModel>(_ request: URLRequest, by token: T) throws -> URLRequest {
        var request = request
        try token.authorize(&request)
        return request
    }

    private func use() async throws {
        print(try signed(request(), by: Token(value: "abc")))
    }
#endif

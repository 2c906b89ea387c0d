// Token / TokenModel: `TokenModel conformance against URLRequest/Data`
import Foundation
import NevodHostFoundation

private func request() throws -> URLRequest {
    guard let url = URL(string: "https://shop.example/cart") else { throw NetworkError.invalidURL }
    return URLRequest(url: url)
}

private struct PartnerToken: TokenModel {
    let partner: String

    func authorize(_ request: inout URLRequest) {
        request.setValue(partner, forHTTPHeaderField: "X-Partner")
    }

    func encode() throws -> Data { Data(partner.utf8) }
    static func decode(from data: Data) throws -> Self { Self(partner: String(decoding: data, as: UTF8.self)) }
}

private func use() async throws {
    let storage = TokenStorage<PartnerToken>(storage: InMemoryStorage())
    var carried = try request()
    PartnerToken(partner: "a").authorize(&carried)
    let data = try PartnerToken(partner: "a").encode()
    print(storage, try PartnerToken.decode(from: data))
}

import NevodSessions

struct Order: Codable, Sendable {
    var id: Int?
    var item: String
}

struct OrderError: Decodable, Sendable {
    let code: String
    let message: String
}

func place(_ order: Order, with client: JWTAuthClient) async throws -> String {
    let response: Response<Order, OrderError> = try await client.sendAuthenticated(.post("/orders").body(order))
    switch response {
    case .success(let success): return "order \(success.id ?? 0), status \(success.status)"
    case .failure(let failure) where failure.code == "OUT_OF_STOCK": return "sold out"
    case .failure(let failure): throw failure
    }
}

import Foundation
import NevodSessions

func requestSigning(secret: String) -> RequestMiddleware {
    .signing { request, body in
        let timestamp = String(Int(Date().timeIntervalSince1970))
        let signature = try HMACSHA256.hexCode(of: body + timestamp.utf8, key: secret.utf8)
        try request.setHeader("X-Timestamp", timestamp)
        try request.setHeader("X-Signature", signature)
    }
}

func send(_ operationData: [String: String], with client: JWTAuthClient, secret: String) async throws -> Int {
    let response = try await client.sendAuthenticated(.post("/sensitive-operation").body(operationData)) {
        requestSigning(secret: secret)
    }
    return response.status
}

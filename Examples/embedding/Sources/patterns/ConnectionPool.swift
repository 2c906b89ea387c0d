import Foundation
import NevodSessions

/// One transport for all clients of a program: its connections stay open for the next request, and no server gets more than six.
enum ConnectionPool {
    static let shared = CurlSession(CurlSession.Configuration(maxConnectionsPerHost: 6))
}

extension URLSession {
    static let authOptimized: URLSession = {
        let config = URLSessionConfiguration.default
        config.httpMaximumConnectionsPerHost = 6
        return URLSession(configuration: config)
    }()
}

func profile(with client: JWTAuthClient) async throws -> [UInt8] {
    let response = try await client.sendAuthenticated(.get("/user/profile"), urlSession: .authOptimized)
    return response.data
}

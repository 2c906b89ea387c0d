import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// OAuth 2 client credentials with a scope for each request, as a plugin that decodes no tokens. Authlib issues and checks them.
struct ScopeProbeTests {
    private static func provider(_ server: ProbeServer) throws -> NetworkProvider {
        let instance = try TestPlugin.scope.get().scheme().makeInstance(
            settings: [
                "token-url": .text("\(server.url)/token"), "client-id": "probe",
                "client-secret": .secret(Secret(copying: Array("a secret & more".utf8))),
            ])
        let session = SchemeSession(instance, storage: InMemoryStorage())
        return NetworkProvider(config: NetworkConfig(), session: CurlSession(), interceptor: session.interceptor)
    }

    private static func log(_ server: ProbeServer) async throws -> [String] {
        let response = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.get, "\(server.url)/log"))
        return String(decoding: try await response.body.collect(), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func `Each scope has a token of its own, issued once`() async throws {
        let server = try await ProbeServer.start("scope")
        let provider = try Self.provider(server)
        for _ in 0..<3 {
            let read = RequestOptions(schemeParameters: ["scope": "orders:read"])
            let write = RequestOptions(schemeParameters: ["scope": "orders:write"])
            #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/orders"), read).status == 200)
            #expect(try await provider.send(HTTPRequest(.post, "\(server.url)/orders"), write).status == 200)
        }
        #expect(try await Self.log(server) == ["orders:read", "orders:write"])
    }

    @Test func `An expired token of one scope is replaced, and the others stay`() async throws {
        let server = try await ProbeServer.start("scope")
        let provider = try Self.provider(server)
        func get(_ path: String, _ scope: String) async throws -> Int {
            let options = RequestOptions(schemeParameters: ["scope": scope])
            return try await provider.send(HTTPRequest(.get, "\(server.url)/\(path)"), options).status
        }
        #expect(try await get("orders", "orders:read") == 200)
        #expect(try await get("users", "users") == 200)
        _ = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.get, "\(server.url)/expire/users"))
        #expect(try await get("orders", "orders:read") == 200)
        #expect(try await get("users", "users") == 200)
        #expect(try await Self.log(server) == ["orders:read", "users", "users"])
    }

    @Test func `A scope that the token doesn't have is refused, as the server does`() async throws {
        let server = try await ProbeServer.start("scope")
        let options = RequestOptions(schemeParameters: ["scope": "users"])
        #expect(try await Self.provider(server).send(HTTPRequest(.get, "\(server.url)/orders"), options).status == 403)
    }
}

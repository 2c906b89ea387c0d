import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// SCRAM-SHA-256 over HTTP (RFC 7804) as a plugin. The server is scramp's.
struct SCRAMProbeTests {
    private static func provider(_ password: String = "open sesame") throws -> NetworkProvider {
        let instance = try TestPlugin.scram.get().scheme().makeInstance(
            settings: ["username": "ali", "password": .secret(Secret(copying: Array(password.utf8)))])
        let session = SchemeSession(instance, storage: InMemoryStorage())
        return NetworkProvider(config: NetworkConfig(), session: CurlSession(), interceptor: session.interceptor)
    }

    @Test func `scramp accepts the proof, and its own signature is checked`() async throws {
        let server = try await ProbeServer.start("scram")
        let provider = try Self.provider()
        for _ in 0..<3 {
            let response = try await provider.send(HTTPRequest(.get, "\(server.url)/"))
            #expect(response.status == 200)
            #expect(String(decoding: try await response.body.collect(), as: UTF8.self) == "the secret body")
        }
    }

    @Test(arguments: [
        ("lying", "the server's signature is wrong"), ("silent", "the server didn't prove that it knows the password"),
    ])
    func `A server without the right signature is refused, and its body doesn't reach the caller`(
        path: String, reason: String
    ) async throws {
        let server = try await ProbeServer.start("scram")
        let error = await #expect(throws: NetworkError.self) {
            try await Self.provider().send(HTTPRequest(.get, "\(server.url)/\(path)"))
        }
        #expect(error?.description.contains(reason) == true)
    }

    @Test func `A wrong password is a 401`() async throws {
        let server = try await ProbeServer.start("scram")
        #expect(try await Self.provider("wrong").send(HTTPRequest(.get, "\(server.url)/")).status == 401)
    }
}

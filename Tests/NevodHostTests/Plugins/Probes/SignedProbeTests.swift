import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// HTTP Message Signatures (RFC 9421) as a plugin. http-message-signatures, from PyPI, verifies the requests' signatures and
/// makes the responses'.
struct SignedProbeTests {
    private static func provider() throws -> NetworkProvider {
        let secret = Secret(copying: Array("a shared secret of more than 32 bytes, for HMAC".utf8))
        let instance = try TestPlugin.signed.get().scheme().makeInstance(
            settings: ["key-id": "probe", "secret": .secret(secret)])
        let session = SchemeSession(instance, storage: InMemoryStorage())
        return NetworkProvider(config: NetworkConfig(), session: CurlSession(), interceptor: session.interceptor)
    }

    @Test func `Both sides accept the other's signature`() async throws {
        let server = try await ProbeServer.start("signed")
        let provider = try Self.provider()
        let requests = [
            try HTTPRequest(.get, "\(server.url)/a%2Fb?x=1&y=%20"),
            try HTTPRequest(.post, "\(server.url)/orders", body: .bytes(Array("{\"a\": 1}".utf8))),
            try HTTPRequest(
                .put, "\(server.url)/stream", body: .stream(.of([Array("in ".utf8), Array("pieces".utf8)], length: 9))),
        ]
        for request in requests {
            let response = try await provider.send(request)
            #expect(response.status == 200)
            let body = String(decoding: try await response.body.collect(), as: UTF8.self)
            #expect(body.hasPrefix("verified"), "\(body)")
        }
    }

    @Test func `The digest of a large body is computed while it arrives`() async throws {
        let server = try await ProbeServer.start("signed")
        let provider = try Self.provider()
        let collected = try await provider.send(
            HTTPRequest(.get, "\(server.url)/large"), RequestOptions(delivery: .collected(limit: 8 << 20)))
        #expect(try await collected.body.collect(upTo: 8 << 20).count == 16 * (5 << 16))
        let streamed = try await provider.send(HTTPRequest(.get, "\(server.url)/large"), RequestOptions(delivery: .streamed))
        #expect(try await streamed.body.collect(upTo: 8 << 20).count == 16 * (5 << 16))
    }

    @Test(arguments: [
        ("unsigned", "the response is not signed"), ("status", "it doesn't match the response"),
        ("tampered", "the body is not the one that was signed"), ("uncovered", "the body is not the one that was signed"),
    ])
    func `A response that doesn't match its signature fails`(path: String, reason: String) async throws {
        let server = try await ProbeServer.start("signed")
        let provider = try Self.provider()
        let error = await #expect(throws: NetworkError.self) {
            try await provider.send(HTTPRequest(.get, "\(server.url)/\(path)"))
        }
        #expect(error?.description.contains("Signature \(reason)") == true)
    }

    @Test func `A stream whose body was changed fails at its end`() async throws {
        let server = try await ProbeServer.start("signed")
        let provider = try Self.provider()
        let response = try await provider.send(
            HTTPRequest(.get, "\(server.url)/tampered"), RequestOptions(delivery: .streamed))
        await #expect(throws: (any Error).self) { try await response.body.collect() }
    }
}

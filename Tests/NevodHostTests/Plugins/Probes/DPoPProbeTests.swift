import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// DPoP with a server's nonce, as a plugin. jwcrypto reads the proofs.
struct DPoPProbeTests {
    private let server: ProbeServer
    private let provider: NetworkProvider

    init() async throws {
        let pem = try Command.output(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-quiet"])
        let folder = try TemporaryFolder()
        server = try await ProbeServer.start("dpop", [folder.write("key", pem.utf8), "an-access-token"])
        let instance = try TestPlugin.dpop.get().scheme().makeInstance(settings: [
            "key": .secret(Secret(copying: Array(pem.utf8))),
            "access-token": .secret(Secret(copying: Array("an-access-token".utf8))),
        ])
        provider = NetworkProvider(
            config: NetworkConfig(), session: CurlSession(),
            interceptor: SchemeSession(instance, storage: InMemoryStorage()).interceptor)
    }

    private func send(_ target: String, _ method: HTTPMethod = .get) async throws -> Int {
        try await provider.send(HTTPRequest(method, server.url + target)).status
    }

    private func log() async throws -> [String] {
        let response = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.get, "\(server.url)/log"))
        return try Command.python(
            "import json, sys\nprint(*json.loads(sys.argv[1]), sep='\\n')",
            [String(decoding: try await response.body.collect(), as: UTF8.self)])
    }

    @Test func `The server's nonce is taken from its refusal, and kept`() async throws {
        #expect(try await send("/a%2Fb/c?x=1") == 200)
        #expect(try await send("/", .post) == 200)
        #expect(try await log() == ["use_dpop_nonce", "ok", "ok"])
    }

    @Test func `A nonce in a successful response is taken over`() async throws {
        for _ in 0..<5 { #expect(try await send("/?rotate") == 200) }
        #expect(try await log() == ["use_dpop_nonce"] + Array(repeating: "ok", count: 5))
    }

    @Test func `A server that has forgotten its nonces gets a proof with a new one`() async throws {
        #expect(try await send("/") == 200)
        _ = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.get, "\(server.url)/forget"))
        #expect(try await send("/") == 200)
        #expect(try await log() == ["use_dpop_nonce", "ok", "use_dpop_nonce", "ok"])
    }

    @Test func `Fifty concurrent requests have a proof of their own each`() async throws {
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<50 { group.addTask { try await send("/\(index)") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 50))
        #expect(try await log().filter { $0 == "ok" }.count == 50)
    }
}

import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// A scheme whose signer is another process, reached through a Unix socket. It blocks, and declares that.
struct AgentProbeTests {
    private static func provider(_ socket: String) throws -> NetworkProvider {
        let instance = try TestPlugin.agent.get().scheme().makeInstance(settings: ["socket": .text(socket)])
        let session = SchemeSession(instance, storage: InMemoryStorage())
        return NetworkProvider(config: NetworkConfig(), session: CurlSession(), interceptor: session.interceptor)
    }

    @Test func `Six requests wait for a slow signer side by side, and others of the session don't wait for them`() async throws {
        let folder = try TemporaryFolder()
        // The signer responds when six requests wait for it. On one thread, the first would wait forever.
        let server = try await ProbeServer.start("agent", ["\(folder.path)/agent", "6"])
        let session = CurlSession()
        let instance = try TestPlugin.agent.get().scheme().makeInstance(settings: ["socket": .text("\(folder.path)/agent")])
        let signed = NetworkProvider(
            config: NetworkConfig(), session: session,
            interceptor: SchemeSession(instance, storage: InMemoryStorage()).interceptor)
        let plain = NetworkProvider(session: session)
        try await withThrowingTaskGroup(of: Int.self) { group in
            func start(_ index: Int) {
                group.addTask { try await signed.send(HTTPRequest(.get, "\(server.url)/orders/\(index)")).status }
            }
            (0..<5).forEach(start)
            while true {
                let response = try await plain.send(HTTPRequest(.get, "\(server.url)/waiting"))
                if try await response.body.collect() == Array("5".utf8) { break }
            }
            start(5)
            #expect(try await group.reduce(into: []) { $0.append($1) } == Array(repeating: 200, count: 6))
        }
    }

    @Test func `A missing signer fails the request, and names the setting`() async throws {
        let folder = try TemporaryFolder()
        let error = await #expect(throws: NetworkError.self) {
            try await Self.provider("\(folder.path)/nobody").send(HTTPRequest(.get, "http://127.0.0.1:1/"))
        }
        #expect(error?.description.contains("socket has no agent listening on it") == true)
    }

    @Test func `A signer that doesn't respond costs its request the request's own deadline`() async throws {
        let folder = try TemporaryFolder()
        let server = try await ProbeServer.start("agent", ["\(folder.path)/agent", "6"])
        let error = await #expect(throws: NetworkError.self) {
            try await Self.provider("\(folder.path)/agent").send(
                HTTPRequest(.get, "\(server.url)/"), RequestOptions(timeout: .milliseconds(300)))
        }
        #expect(error?.description.contains("authorize") == true)
        #expect(error?.description.contains("\"agent\"") == true)
    }
}

import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// The origins to which a real library's challenge flow may send, in addition to its settings' origins.
struct ChallengeOriginTests {
    private func run(
        at origin: String, sendingTo address: String, mode: String = "challenge-send", target: SchemeTarget = .origin,
        _ kind: FlowKind = .challenge, interaction: (any UserInteraction)? = nil
    ) async throws -> String {
        let instance = try TestPlugin.flow.get().scheme().makeInstance(settings: ["mode": .text(mode)], target: target)
        var headers = HTTPHeaders()
        headers.add("Goto", address, by: .caller)
        let response = FlowResponse(
            status: target == .proxy ? 407 : 401, isFromProxy: target == .proxy, headers: headers, body: [], url: "\(origin)/api")
        let driver = FlowDriver(instance: instance, session: CurlSession(), interaction: interaction)
        do {
            let token = try await driver.run(
                kind, token: IssuedToken(bytes: Secret("t"), expiresAt: nil, account: "ada"), response: response,
                at: HTTPURL(origin).origin, keep: { _ in })
            return token.map { $0.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } } ?? "none"
        } catch {
            return "\(error)"
        }
    }

    @Test func `A challenge flow sends to the origin of the challenge, and to no other`() async throws {
        let (server, other) = (try ScriptedServer(), try ScriptedServer())
        #expect(try await run(at: server.url, sendingTo: "\(server.url)/prove") == "status 200")
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["proof"])
        let foreign = try await run(at: server.url, sendingTo: "\(other.url)/prove")
        #expect(foreign.contains("it tried to send to \(other.url), which no setting names"), "\(foreign)")
        // The same host with another scheme is another origin.
        let unsafe = try await run(at: server.url.replacing("http:", with: "https:"), sendingTo: "\(server.url)/prove")
        #expect(unsafe.contains("which no setting names"), "\(unsafe)")
        #expect(other.requests.isEmpty && server.requests.count == 1)
    }

    @Test func `A redirect from there to another origin is not followed, and one to itself is`() async throws {
        let other = try ScriptedServer()
        let server = try ScriptedServer { request in
            switch request.target {
            case "/away": ScriptedServer.Response(status: 307, headers: ["Location: \(other.url)/steal"])
            case "/stay": ScriptedServer.Response(status: 307, headers: ["Location: /here"])
            default: ScriptedServer.Response()
            }
        }
        #expect(try await run(at: server.url, sendingTo: "\(server.url)/away") == "status 307")
        #expect(try await run(at: server.url, sendingTo: "\(server.url)/stay") == "status 200")
        #expect(other.requests.isEmpty)
    }

    @Test func `Neither a proxy's challenge nor another flow allows an origin, and no address is opened there`() async throws {
        let server = try ScriptedServer()
        let proxy = try await run(at: server.url, sendingTo: "\(server.url)/prove", target: .proxy)
        #expect(proxy.contains("which no setting names"), "\(proxy)")
        let refresh = try await run(at: server.url, sendingTo: "\(server.url)/prove", .refresh)
        #expect(!refresh.contains("status 200"), "\(refresh)")
        let browse = try await run(
            at: "http://challenge.example", sendingTo: "-", mode: "challenge-browse", interaction: FlowPerson())
        #expect(browse.contains("it tried to open an address at an origin that no setting names"), "\(browse)")
        #expect(server.requests.isEmpty)
    }
}

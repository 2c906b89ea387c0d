import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests schemes that block without declaring it.
@Suite(.blocking)
struct UnannouncedBlockingTests {
    private let server: ScriptedServer

    init() throws {
        server = try ScriptedServer()
    }

    private func thread(_ instance: SchemeInstance) async throws -> String? {
        let provider = NetworkProvider(session: CurlSession(), signer: instance.token)
        _ = try await provider.send(HTTPRequest(.get, server.url))
        return server.requests.last?["X-Thread"]
    }

    @Test func `A scheme that took too long is moved to the workers, all its instances, with one warning`() async throws {
        let plugin = try TestPlugin.slow()
        let (slow, other) = (try SlowScheme("stalls", of: plugin), try SlowScheme("stalls", of: plugin))
        #expect(!slow.instance.mayBlock)
        var request = try HTTPRequest(.get, "http://h/")
        let waiting = Task { [request] in
            try await onOwnThread {
                var request = request
                try slow.instance.authorize(&request, attempt: 1)
                return request
            }
        }
        #expect(await slow.hasEntered(1))
        let begin = ContinuousClock.now
        // Longer than a call may take, by whatever clock.
        #expect(await eventually { ContinuousClock.now - begin > .milliseconds(700) })
        slow.release()
        request = try await waiting.value
        #expect(slow.instance.mayBlock)
        #expect(other.instance.mayBlock)
        #expect(try plugin.scheme("stalls").mayBlock)
        #expect(await eventually { slow.warnings.count == 1 })
        let warning = slow.warnings.first ?? ""
        // Detected when it returned, or by the monitor shortly before.
        #expect(warning.contains("libslow.so: the scheme \"stalls\" ") && warning.contains(" ms in authorize"))
        for instance in [slow, other] {
            instance.release()
            let moved = try await thread(instance.instance)
            #expect(moved != nil && moved != request.headers["X-Thread"])
        }
        #expect(slow.warnings.count == 1)
        #expect(other.warnings.isEmpty)
    }

    @Test func `A scheme is moved while its call is still in progress`() async throws {
        let slow = try SlowScheme("stalls")
        let stuck = Task { [instance = slow.instance] in
            try await onOwnThread {
                var request = try HTTPRequest(.get, "http://h/")
                try instance.authorize(&request, attempt: 1)
            }
        }
        #expect(await eventually { slow.instance.mayBlock })
        #expect(!slow.log.contains("2 leave authorize"))
        #expect(await eventually { !slow.warnings.isEmpty })
        #expect(slow.warnings.first?.contains("the scheme \"stalls\" has not returned for ") == true)
        #expect(slow.warnings.allSatisfy { !$0.isLoggedByScheme })
        #expect(CallInProgress.all.contains { $0.scheme == "stalls" && $0.function == "authorize" })
        slow.release()
        try await stuck.value
        #expect(slow.warnings.count == 1)
    }

    @Test func `A call that never returns fails its own request at the deadline, and no other`() async throws {
        let slow = try SlowScheme("stalls")
        let session = CurlSession()
        let signed = NetworkProvider(session: session, signer: slow.instance.token)
        let plain = NetworkProvider(session: session)
        let request = try HTTPRequest(.get, server.url + "/stuck")
        let stuck = Task { try await signed.send(request, RequestOptions(timeout: .seconds(2))) }
        let endless = Task { try await signed.send(request) }
        #expect(await slow.hasEntered(2))
        for _ in 0..<20 { #expect(try await plain.send(HTTPRequest(.get, server.url)).status == 200) }
        #expect(!slow.log.contains("2 leave authorize"))
        let error = await #expect(throws: NetworkError.self) { try await stuck.value }
        guard case .plugin(let error) = error, case .unreturned("stalls", "authorize") = error.reason else {
            throw error ?? .cancelled
        }
        endless.cancel()
        await #expect(throws: NetworkError.self) { try await endless.value }
        slow.release(2)
        #expect(await eventually { slow.log.filter { $0 == "2 leave authorize" }.count == 2 })
        // The session works, and nothing arrives from the abandoned requests.
        slow.release()
        #expect(try await signed.send(HTTPRequest(.get, server.url + "/later")).status == 200)
        #expect(!server.requests.contains { $0.target == "/stuck" })
        #expect(slow.warnings.count == 1)
    }

    @Test func `A scheme that returns at once stays where it is`() async throws {
        let slow = try SlowScheme("stalls", in: "nothing")
        for _ in 0..<20 { _ = try await thread(slow.instance) }
        #expect(slow.warnings.isEmpty)
        #expect(!slow.instance.mayBlock)
    }
}

import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests the verdicts of a plugin in C: each verdict with each kind of status, its reports, and the statuses that it sees. The
/// server's header lines say what the plugin does.
struct ResponseVerdictTests {
    private let lines = Collected<String>()

    private func session(_ scheme: String = "plain", needs: String = "cos", statuses: [Int] = [302, 418]) throws -> SchemeSession
    {
        try ResponseScheme.session(scheme, needs: needs, statuses: statuses, lines)
    }

    private func get(
        _ session: SchemeSession, _ server: ScriptedServer, _ delivery: TransferOptions.Delivery = .collected(limit: 1 << 20)
    ) async throws -> HTTPResponse {
        try await NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
            .send(
                HTTPRequest(.get, "\(server.url)/api"),
                RequestOptions(delivery: delivery, redirects: .none, retryPolicy: RetryPolicy.none))
    }

    private static func server(_ status: Int, _ lines: String...) throws -> ScriptedServer {
        try ScriptedServer { _ in ScriptedServer.Response(status: status, headers: lines, body: "body") }
    }

    private static let challenges = [302, 401, 403, 418]
    private static let others = [200, 303, 400, 404, 500, 503]

    @Test(arguments: challenges + others, ["nothing", "changed", "unknown"])
    func `These verdicts send nothing again`(status: Int, verdict: String) async throws {
        let server = try Self.server(status, "X-Verdict: \(verdict)")
        let response = try await get(session(), server)
        #expect(response.status == status)
        #expect(try await response.body.collect() == Array("body".utf8))
        #expect(server.requests.count == 1)
        #expect(lines.values == ["2 on_response \(status): 0 bytes, 0 digests, \"\""])
    }

    @Test(arguments: challenges + others)
    func `A retry is sent once for a request, and only for a challenge`(status: Int) async throws {
        let server = try Self.server(status, "X-Verdict: retry", "X-State: new")
        let session = try session()
        #expect(try await get(session, server).status == status)
        let expected: [String?] = Self.challenges.contains(status) ? [nil, "new"] : [nil]
        #expect(server.requests.map { $0["X-State"] } == expected)
        // Each request has its own limit.
        #expect(try await get(session, server).status == status)
        #expect(server.requests.count == 2 * expected.count)
    }

    @Test func `A 401 after the one retry renews the token, once`() async throws {
        let server = try Self.server(401, "X-Verdict: retry")
        #expect(try await get(session("flows"), server).status == 401)
        #expect(server.requests.map { $0["X-Token"] } == ["login1", "login1", "login2"])
    }

    @Test(arguments: challenges + others)
    func `At most four challenge flows run for a request, and only for a challenge`(status: Int) async throws {
        let server = try Self.server(status, "X-Verdict: challenge")
        #expect(try await get(session("flows"), server).status == status)
        let flows = Self.challenges.contains(status) ? ["challenge2", "challenge3", "challenge4", "challenge5"] : []
        #expect(server.requests.map { $0["X-Token"] } == ["login1"] + flows)
    }

    @Test(arguments: challenges)
    func `Without flows, a challenge is returned to the caller`(status: Int) async throws {
        let server = try Self.server(status, "X-Verdict: challenge")
        #expect(try await get(session(), server).status == status)
        #expect(server.requests.count == 1)
    }

    @Test func `Several legs of one request are challenged once each`() async throws {
        let server = try ScriptedServer { request in
            request["X-Token"] == "challenge4"
                ? ScriptedServer.Response() : ScriptedServer.Response(status: 401, headers: ["X-Verdict: challenge"])
        }
        #expect(try await get(session("flows"), server).status == 200)
        #expect(server.requests.map { $0["X-Token"] } == ["login1", "challenge2", "challenge3", "challenge4"])
    }

    @Test(arguments: challenges + others, [true, false])
    func `A refused response fails the request, with the reason, and changes nothing`(status: Int, isStreamed: Bool) async throws
    {
        let server = try Self.server(
            status, "X-Verdict: refuse", "X-Report: is not the server's", "X-State: forged", "X-Keep: forged")
        let session = try session("flows")
        let delivery: TransferOptions.Delivery = isStreamed ? .streamed : .collected(limit: 1 << 20)
        let error = try await #require(throws: NetworkError.self) { try await get(session, server, delivery) }
        guard case .plugin(let plugin) = error,
            case .refusedResponse("flows", "X-Signature", "is not the server's", let detail?) = plugin.reason
        else {
            Issue.record("\(error)")
            return
        }
        #expect(detail == Secret("sensitive"))
        for part in ["libresponse.so", "\"flows\"", "refused the response", "X-Signature is not the server's"] {
            #expect(plugin.description.contains(part), "\(plugin)")
        }
        #expect(!plugin.description.contains("sensitive"))
        #expect(server.requests.count == 1)
        _ = try? await get(session, server, delivery)
        #expect(server.requests.last?["X-State"] == nil)
        #expect(server.requests.last?["X-Token"] == "login1")
        #expect(lines.values.allSatisfy { !$0.contains("sensitive") })
    }

    @Test func `A refusal without a reason says so`() async throws {
        let server = try Self.server(200, "X-Verdict: refuse")
        let error = await #expect(throws: NetworkError.self) { try await get(session(), server) }
        #expect(error?.description.contains("no reason given") == true)
    }

    @Test(arguments: ["nothing", "changed", "unknown"])
    func `A report with another verdict is a warning in the plugin's log`(verdict: String) async throws {
        let server = try Self.server(200, "X-Verdict: \(verdict)", "X-Report: is missing")
        #expect(try await get(session(), server).status == 200)
        #expect(lines.values.filter { $0.hasPrefix("3") } == ["3 on_response: X-Signature is missing"])
    }

    @Test func `A scheme sees the responses that its needs name`() async throws {
        for status in Self.challenges + Self.others {
            let server = try Self.server(status)
            for needs in ["c", "o", "co", ""] { _ = try await get(session(needs: needs), server) }
        }
        let seen = lines.values.compactMap { $0.split(separator: " ").dropFirst(2).first.map { String($0.dropLast()) } }
        #expect(seen == (Self.challenges + Self.others).flatMap { ["\($0)", "\($0)"] })
    }

    @Test func `A status that the scheme doesn't name is no challenge`() async throws {
        let server = try Self.server(418, "X-Verdict: retry")
        #expect(try await get(session(statuses: []), server).status == 418)
        #expect(server.requests.count == 1)
        #expect(try await get(session(needs: "c", statuses: []), server).status == 418)
        #expect(lines.values.count == 1)
    }

    @Test func `A 407 of an origin is shown to no scheme`() async throws {
        let server = try Self.server(407, "X-Verdict: refuse")
        #expect(try await get(session(statuses: [407]), server).status == 407)
        #expect(lines.values.isEmpty)
    }

    @Test(arguments: [[299], [600], [0], [-1], [401, 700], Array(repeating: 404, count: 17)])
    func `Wrong challenge statuses refuse the instance`(statuses: [Int]) throws {
        let error = #expect(throws: PluginError.self) { try session(statuses: statuses) }
        #expect(error?.description.contains("plain.needs.challenge_status") == true)
    }

    @Test func `The first and the last status may be challenges, sixteen in all`() throws {
        _ = try session(statuses: [300, 599] + Array(400..<414))
    }

    @Test(arguments: ["u": "sha-1", "n": "response_digests is NULL", "m": "response_digest_count is 17"])
    func `Wrong digests refuse the instance`(needs: String, problem: String) throws {
        let error = #expect(throws: PluginError.self) { try session(needs: needs) }
        #expect(error?.description.contains(problem) == true)
    }
}

/// Sessions of the plugin response.c.
enum ResponseScheme {
    static func session(
        _ scheme: String, needs: String, statuses: [Int] = [], types: [String] = [], _ lines: Collected<String>
    ) throws -> SchemeSession {
        var settings: SchemeSettings = ["needs": .text(needs)]
        for status in statuses { settings.add("status", .text("\(status)")) }
        for type in types { settings.add("type", .text(type)) }
        let instance = try TestPlugin.response.get().scheme(scheme).makeInstance(settings: settings) { level, line in
            lines.append("\(level) \(line)")
        }
        return SchemeSession(instance, storage: InMemoryStorage())
    }
}

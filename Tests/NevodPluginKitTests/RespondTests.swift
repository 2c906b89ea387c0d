import NevodPluginKit
import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests Swift schemes that handle responses at a real server: refusals, their own challenges, and bodies.
struct RespondTests {
    /// Rejects responses as a header line says, and stores what it has seen as the state, which the next request sends.
    struct Checking: AuthScheme {
        static let id = "checking"
        static let title = "Checks responses"

        @Setting("bodies", default: true, help: "Whether it needs bodies") var bodies: Bool

        var needs: Needs {
            bodies
                ? [.challenges, .otherResponses, .state, .challengeBody, .responseSHA256, .responseSHA384, .responseSHA512]
                : [.challenges, .otherResponses, .state]
        }
        var challengeStatuses: [Int] { [418] }
        var challengeTypes: [String] { ["text/html", "application/problem+json"] }

        func authorize(_ request: borrowing RequestView, _ edits: Edits) {
            if !request.state.isEmpty { edits.setHeader("X-State", request.state) }
        }

        func respond(
            to response: borrowing ResponseView, _ request: borrowing RequestView, _ edits: ResponseEdits
        ) throws(SchemeError) -> NevodPluginKit.Verdict {
            let digests = [DigestAlgorithm.sha256, .sha384, .sha512].map { response.bodyDigest($0)?.count ?? -1 }
            edits.setState(Array("\(response.status) \(response.body.count) \(response.bodyIsCut) \(digests)".utf8))
            switch response.header("X-Check") {
            case "refuse": return .refuse
            case "throw": throw .refused("is wrong", subject: "X-Check", detail: "sensitive")
            case "fail": throw .internal("libcrypto failed")
            case "retry" where request.attempt < 9: return .retryOnce
            default: return .stateChanged
            }
        }
    }

    /// Keeps the simpler signature, which can't throw.
    struct Plain: AuthScheme {
        static let id = "plain-respond"
        static let title = "Responds without throwing"
        var needs: Needs { [.otherResponses, .state] }
        func authorize(_ request: borrowing RequestView, _ edits: Edits) {
            if !request.state.isEmpty { edits.setHeader("X-State", request.state) }
        }
        func respond(to response: borrowing ResponseView, _ request: borrowing RequestView, _ edits: ResponseEdits)
            -> NevodPluginKit.Verdict
        {
            edits.setState(Array("seen".utf8))
            return .stateChanged
        }
    }

    private static let export = PluginExport(Checking.self, Plain.self, name: "Respond", version: "1", vendor: "Tests")

    private let requests = Collected<String>()

    private func send(_ responses: String..., scheme: String = "checking", settings: SchemeSettings = [:]) async throws -> [Int] {
        let requests = requests
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                let state = request.head.split(separator: "\r\n").first { $0.hasPrefix("X-State: ") }
                requests.append(state.map { String($0.dropFirst(9)) } ?? "-")
                connection.write(responses[min(requests.values.count, responses.count) - 1])
            }
        }
        let instance = try Plugin(builtIn: Self.export.table).scheme(scheme).makeInstance(settings: settings)
        let session = SchemeSession(instance, storage: InMemoryStorage())
        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
        var statuses: [Int] = []
        while requests.values.count < responses.count {
            statuses.append(try await provider.send(HTTPRequest(.get, "\(server.url)/")).status)
        }
        return statuses
    }

    private static func response(_ status: Int, _ body: String = "", check: String = "", type: String = "text/plain") -> String {
        "HTTP/1.1 \(status) X\r\nX-Check: \(check)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test func `A scheme refuses a response by throwing, and the error says why`() async throws {
        let error = try await #require(throws: NetworkError.self) { try await send(Self.response(200, "body", check: "throw")) }
        guard case .plugin(let plugin) = error,
            case .refusedResponse("checking", "X-Check", "is wrong", let detail?) = plugin.reason
        else { return #expect(Bool(false), "\(error)") }
        #expect(String(revealing: detail) == "sensitive")
        #expect(!"\(error)".contains("sensitive"))
    }

    @Test func `Any error refuses`() async throws {
        let error = await #expect(throws: NetworkError.self) { try await send(Self.response(200, check: "fail")) }
        #expect(error?.description.contains("libcrypto failed") == true)
    }

    @Test func `A verdict refuses without a reason`() async throws {
        let error = await #expect(throws: NetworkError.self) { try await send(Self.response(200, check: "refuse")) }
        #expect(error?.description.contains("no reason given") == true)
    }

    @Test func `A scheme sees digests of all bodies, and the bodies of its challenges`() async throws {
        let long = String(repeating: "x", count: (64 << 10) + 1)
        let statuses = try await send(
            Self.response(200, "four"), Self.response(418, "three"), Self.response(401, long), Self.response(403),
            Self.response(200))
        #expect(statuses == [200, 418, 401, 403, 200])
        #expect(
            requests.values == [
                "-", "200 0 false [32, 48, 64]", "418 5 false [32, 48, 64]", "401 65536 true [32, 48, 64]",
                "403 0 false [32, 48, 64]",
            ])
    }

    @Test func `Without the needs, it sees neither`() async throws {
        _ = try await send(Self.response(418, "three"), Self.response(200), settings: ["bodies": "false"])
        #expect(requests.values == ["-", "418 0 false [-1, -1, -1]"])
    }

    @Test func `A status that the scheme names is a challenge`() async throws {
        #expect(try await send(Self.response(418, check: "retry"), Self.response(200)) == [200])
        #expect(requests.values == ["-", "418 0 false [32, 48, 64]"])
    }

    @Test func `A media type that the scheme names is a challenge`() async throws {
        let page = Self.response(200, "<form>", check: "retry", type: "Text/HTML; charset=utf-8")
        #expect(try await send(page, Self.response(200)) == [200])
        #expect(requests.values == ["-", "200 6 false [32, 48, 64]"])
    }

    @Test func `Each media type arrives`() async throws {
        let problem = Self.response(201, "{}", check: "retry", type: "application/problem+json")
        #expect(try await send(problem, Self.response(200)) == [200])
    }

    @Test func `A function that throws nothing meets the requirement`() async throws {
        #expect(try await send(Self.response(200), Self.response(200), scheme: "plain-respond") == [200, 200])
        #expect(requests.values == ["-", "seen"])
    }
}

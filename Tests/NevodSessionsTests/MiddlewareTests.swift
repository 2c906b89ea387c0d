import Foundation
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodSessions

struct MiddlewareTests {
    private struct Stamp: RequestInterceptor {
        let seen: Collected<String>
        let name: String

        func adapt(_ exchange: inout Exchange) async throws {
            seen.append("\(name) \(exchange.attempt) \(exchange.request.headers["Authorization"] == nil)")
        }
    }

    /// Counts the requests that it passes on.
    private final class CountingSession: HTTPTransport {
        let base = CurlSession()
        let sent = Collected<String>()

        func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
            sent.append(request.target)
            return try await base.send(request, options)
        }
    }

    private let fast = RetryPolicy(maxAttempts: 3, baseDelay: .milliseconds(1), isBudgeted: false)

    private func app(_ service: Service, interceptors: [any RequestInterceptor] = []) async throws -> JWTAuthClient {
        let client = JWTApp(service.url, interceptors: interceptors).client
        try await client.saveSession(AuthTokens(access: "token", refresh: "r"))
        return client
    }

    @Test func `Middleware runs before the client's interceptors, tokens after them, signatures last, at each attempt`()
        async throws
    {
        let service = try Service { _, number in Service.Answer(status: number == 1 ? 503 : 200) }
        let seen = Collected<String>()
        let client = try await app(service, interceptors: [Stamp(seen: seen, name: "client")])
        _ = try await client.sendAuthenticated(.post("/orders").body(["id": "7"]).header("Idempotency-Key", "1")) {
            RequestMiddleware.signing { request, body in
                let lines = ["Authorization", "Host", "X-Kind"].map { request.headers[$0] ?? "none" }
                seen.append("signature \(lines[0]) \(lines[2])")
                #expect(lines[1] != "none")
                try request.addHeader("X-Signature", String(decoding: body, as: UTF8.self))
            }
            RequestMiddleware.intercept(Stamp(seen: seen, name: "one"))
            RequestMiddleware.headers(["X-Kind": "new"])
            RequestMiddleware.intercept(Stamp(seen: seen, name: "two"))
            RequestMiddleware.retry(fast)
        }
        #expect(
            seen.values
                == (1...2).flatMap {
                    ["one \($0) true", "two \($0) true", "client \($0) true", "signature Bearer token new"]
                })
        // Each attempt has only its own signature.
        #expect(service.log.map { $0.headers("X-Signature") } == [[#"{"id":"7"}"#], [#"{"id":"7"}"#]])
    }

    @Test func `A signature covers a form as it is sent`() async throws {
        let service = try Service { _, _ in Service.Answer() }
        let client = try await app(service)
        let form = MultipartFormData(fileData: Array("picture".utf8), fileName: "a.jpg", mimeType: "image/jpeg")
        let signing = RequestMiddleware.signing { request, body in
            let timestamp = "1700000000"
            try request.setHeader("X-Timestamp", timestamp)
            try request.setHeader("X-Signature", HMACSHA256.hexCode(of: body + Array(timestamp.utf8), key: "secret".utf8))
        }
        _ = try await client.sendAuthenticated(.uploadMultipart("/upload", multipart: form)) { signing }
        let request = try #require(service.log.first)
        #expect(request.body.contains("picture"))
        let expected = try HMACSHA256.hexCode(of: (request.body + "1700000000").utf8, key: "secret".utf8)
        #expect(request.header("X-Signature") == expected && request.header("X-Timestamp") == "1700000000")
    }

    @Test func `A signature and a secret header stay at their origin`() async throws {
        let elsewhere = try Service { _, _ in Service.Answer() }
        let there = elsewhere.url
        let service = try Service { request, _ in
            switch request.path {
            case "/near": Service.Answer(status: 307, headers: "Location: /here\r\n")
            case "/far": Service.Answer(status: 307, headers: "Location: \(there)/there\r\n")
            default: Service.Answer()
            }
        }
        let client = try await app(service)
        for path in ["/near", "/far"] as [EndpointPath] {
            _ = try await client.sendAuthenticated(.get(path)) {
                RequestMiddleware.signing { request, _ in try request.setHeader("X-Mark", "signed \(request.target)") }
                RequestMiddleware.headers(["X-API-Key": "secret", "X-Trace": "1"])
            }
        }
        // Within the origin, the redirect gets a new signature.
        #expect(service.log.map(\.path) == ["/near", "/here", "/far"])
        #expect(service.log.map { $0.headers("X-Mark") } == [["signed /near"], ["signed /here"], ["signed /far"]])
        #expect(service.log.allSatisfy { $0.header("X-API-Key") == "secret" && $0.header("Authorization") == "Bearer token" })
        let request = try #require(elsewhere.log.first)
        #expect(request.header("X-Mark") == nil && request.header("X-API-Key") == nil && request.header("Authorization") == nil)
        #expect(request.header("X-Trace") == "1" && elsewhere.log.count == 1)
    }

    @Test func `A signature is in no log`() async throws {
        let service = try Service { _, _ in Service.Answer() }
        let lines = Collected<String>()
        let logger = LineLogger(lines: lines)
        let client = try await app(service, interceptors: [LoggingInterceptor(logger: logger, logLevel: .verbose)])
        _ = try await client.sendAuthenticated(.post("/mfa").body(["sessionId": "session-77", "code": "123456"])) {
            RequestMiddleware.signing { request, _ in try request.setHeader("X-Mark", "very-secret") }
        }
        let text = lines.values.joined()
        #expect(text.contains("X-Mark") && !text.contains("very-secret"))
        #expect(!text.contains("123456") && !text.contains("session-77") && !text.contains("Bearer token"))
    }

    @Test(arguments: [0, 2]) func `A builder takes conditions and loops`(count: Int) async throws {
        let service = try Service { _, _ in Service.Answer() }
        let client = try await app(service)
        let optional = count > 0 ? RequestMiddleware.headers(["X-Optional": "1"]) : nil
        _ = try await client.sendAuthenticated(.get("/")) {
            if count > 0 { RequestMiddleware.headers(["X-If": "1"]) } else { RequestMiddleware.headers(["X-Else": "1"]) }
            if let optional { optional }
            for number in 0..<count { RequestMiddleware.headers(["X-Loop-\(number)": "1"]) }
            RequestMiddleware.all {
                RequestMiddleware.headers(["X-All": "1"])
            }
        }
        let request = try #require(service.log.first)
        let names = ["X-If", "X-Else", "X-Optional", "X-Loop-0", "X-Loop-1", "X-All"].filter { request.header($0) != nil }
        #expect(names == (count > 0 ? ["X-If", "X-Optional", "X-Loop-0", "X-Loop-1", "X-All"] : ["X-Else", "X-All"]))
    }

    @Test func `One call may have another session`() async throws {
        let service = try Service { _, _ in Service.Answer() }
        let (client, session) = (try await app(service), CountingSession())
        _ = try await client.sendAuthenticated(.get("/1"), session: session)
        _ = try await client.sendAuthenticated(.get("/2")) { RequestMiddleware.session(session) }
        _ = try await client.sendAuthenticated(.get("/3"))
        let _: SuccessResponse<EmptyResponse> = try await client.send(.get("/4"), session: session)
        _ = try await client.sendAuthenticated(.get("/5"), urlSession: .authOptimized)
        #expect(session.sent.values == ["/1", "/2", "/4"] && service.log.map(\.path) == ["/1", "/2", "/3", "/4", "/5"])
        #expect(service.log.map { $0.header("Authorization") != nil } == [true, true, true, false, true])
        #expect(service.log[4].header("User-Agent") == "auth-optimized")
    }

    @Test func `One call may have another policy and another timeout`() async throws {
        let goOn = Latch()
        let service = try Service { request, _ in
            if request.path == "/slow" { goOn.waitOnThread() }
            return Service.Answer(status: 503)
        }
        let client = try await app(service)
        await #expect(throws: NetworkError.serverError(503)) {
            try await client.sendAuthenticated(.get("/three")) { RequestMiddleware.retry(fast) }
        }
        await #expect(throws: NetworkError.serverError(503)) {
            try await client.sendAuthenticated(.get("/one")) { RequestMiddleware.retry(maxRetries: 0) }
        }
        #expect(service.log.map(\.path) == ["/three", "/three", "/three", "/one"])
        await #expect(throws: NetworkError.timeout) {
            try await client.sendAuthenticated(.get("/slow")) { RequestMiddleware.timeout(.milliseconds(50)) }
        }
        goOn.set()
        let plans = [-1, 2, .max].map { RequestPlan([.retry(maxRetries: $0)], session: nil, options: RequestOptions()) }
        #expect(plans.map { $0.options.retryPolicy?.maxAttempts } == [1, 3, 65537])
    }

    @Test func `One call may have a cache`() async throws {
        let service = try Service { _, number in .json("[\(number)]", headers: "Cache-Control: max-age=60\r\n") }
        let (client, store) = (try await app(service), InMemoryCache())
        func number(_ middleware: RequestMiddleware...) async throws -> [Int] {
            let response: SuccessResponse<[Int]> = try await client.sendAuthenticated(.get("/n")) {
                for part in middleware { part }
            }
            return response.data
        }
        #expect(try await number(.cache(store)) == [1])
        #expect(try await number(.cache(store)) == [1])
        #expect(try await number() == [2])
        #expect(try await number(.cache(InMemoryCache())) == [3])
        // The wrapper is around the chosen session, wherever that is.
        let session = CountingSession()
        #expect(try await number(.transport { CachingSession($0, store: store) }, .session(session)) == [1])
        #expect(session.sent.values.isEmpty)
        // Another user's token finds nothing.
        try await client.saveSession(AuthTokens(access: "other", refresh: "r"))
        #expect(try await number(.cache(store)) == [4])
    }
}

extension URLSession {
    fileprivate static let authOptimized: URLSession = {
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = 6
        configuration.httpAdditionalHeaders = ["User-Agent": "auth-optimized"]
        return URLSession(configuration: configuration)
    }()
}

private struct LineLogger: NetworkLogger {
    let lines: Collected<String>

    func isEnabled(_ level: LogLevel) -> Bool { true }
    func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
        lines.append("\(message) \(metadata)")
    }
}

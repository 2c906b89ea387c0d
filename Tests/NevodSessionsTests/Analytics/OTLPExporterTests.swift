import Foundation
import NevodHost
import NevodSessions
import NevodTestSupport
import Testing

struct OTLPExporterTests {
    private struct Received: Decodable {
        struct Value: Decodable { let stringValue: String? }
        struct Attribute: Decodable {
            let key: String
            let value: Value
        }
        struct Resource: Decodable { let attributes: [Attribute] }
        struct Point: Decodable {
            let attributes: [Attribute]?
            let startTimeUnixNano: String
            let timeUnixNano: String
            let asInt: String?
            let count: String?
            let sum: Double?
            let max: Double?
            let bucketCounts: [String]?
            let explicitBounds: [Double]?
        }
        struct Data: Decodable {
            let dataPoints: [Point]?
            let aggregationTemporality: String
            let isMonotonic: Bool?
        }
        struct Metric: Decodable {
            let name: String
            let unit: String
            let sum: Data?
            let histogram: Data?
        }
        struct Scope: Decodable { let metrics: [Metric] }
        struct ResourceMetrics: Decodable {
            let resource: Resource
            let scopeMetrics: [Scope]
        }

        let resourceMetrics: [ResourceMetrics]?
        let error: String?
    }

    private let receiver: ProbeServer
    private let clock = HandClock()

    init() async throws {
        receiver = try await ProbeServer.start("otlp")
    }

    private func received() async throws -> [Received] {
        let response = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.get, "\(receiver.url)/control"))
        return try JSONDecoder().decode([Received].self, from: Data(await response.body.collect()))
    }

    private func answer(_ json: String) async throws {
        let request = try HTTPRequest(.post, "\(receiver.url)/control", body: .bytes(Array(json.utf8)))
        _ = try await NetworkProvider(session: CurlSession()).send(request)
    }

    private func exporter(_ logger: (any NetworkLogger)? = nil) -> OTLPExporter {
        OTLPExporter(
            endpoint: receiver.url, serviceName: "shop", attributes: ["deployment.environment": "test"], logger: logger,
            clock: clock.host)
    }

    private func filled(users: UserLabel = .none) -> TokenAnalytics {
        let analytics = TokenAnalytics(users: users, clock: clock.host)
        clock.advance(30)
        analytics.refreshFinished(TokenRefreshEvent(duration: .milliseconds(700)))
        analytics.refreshFinished(TokenRefreshEvent(failure: .timeout, duration: .seconds(60)))
        for _ in 0..<3 {
            analytics.requestFinished(
                TokenRequestEvent(route: "GET /\"a\"\n/{}", outcome: .success, tokenAge: .seconds(5), user: "ada"))
        }
        return analytics
    }

    @Test func `OpenTelemetry's own messages read the export`() async throws {
        #expect(try await exporter().export(filled().snapshot) == .accepted)
        let all = try await received()
        let metrics = try #require(all.first?.resourceMetrics?.first)
        #expect(all.count == 1 && all[0].error == nil)
        #expect(metrics.resource.attributes.map(\.key) == ["service.name", "deployment.environment"])
        #expect(metrics.resource.attributes.first?.value.stringValue == "shop")
        let byName = Dictionary(uniqueKeysWithValues: metrics.scopeMetrics[0].metrics.map { ($0.name, $0) })
        #expect(
            Set(byName.keys) == [
                "nevod.token.refreshes", "nevod.token.refresh.duration", "nevod.token.requests", "nevod.token.age",
            ])
        let requests = try #require(byName["nevod.token.requests"]?.sum)
        #expect(requests.aggregationTemporality == "AGGREGATION_TEMPORALITY_CUMULATIVE" && requests.isMonotonic == true)
        let point = try #require(requests.dataPoints?.first)
        #expect(point.asInt == "3" && point.attributes?.map(\.value.stringValue) == ["GET /\"a\"\n/{}", "2xx"])
        #expect(point.startTimeUnixNano == "1800000000000000000" && point.timeUnixNano == "1800000030000000000")
        let refreshes = try #require(byName["nevod.token.refreshes"]?.sum?.dataPoints)
        let counts = refreshes.map { ($0.attributes?.first?.value.stringValue ?? "", $0.asInt ?? "") }
        #expect(Dictionary(uniqueKeysWithValues: counts)["timeout"] == "1" && counts.first?.1 == "1")
        let durations = try #require(byName["nevod.token.refresh.duration"]?.histogram?.dataPoints?.first)
        #expect(durations.count == "2" && durations.max == 60 && abs((durations.sum ?? 0) - 60.7) < 1e-9)
        #expect(durations.bucketCounts?.count == (durations.explicitBounds?.count ?? 0) + 1)
        #expect(durations.bucketCounts?.compactMap { Int($0) }.reduce(0, +) == 2)
    }

    @Test func `Users are exported only if they are counted`() async throws {
        let exporter = exporter()
        _ = try await exporter.export(filled(users: .byClaim("sub")).snapshot)
        _ = try await exporter.export(TokenAnalytics().snapshot)
        let names = try await received().map { $0.resourceMetrics?[0].scopeMetrics[0].metrics.map(\.name) ?? [] }
        #expect(names.map { $0.contains("nevod.token.user.requests") } == [true, false])
    }

    @Test func `A receiver that takes only a part says so, and is not asked again`() async throws {
        try await answer(#"{"rejected": 7, "message": "too old"}"#)
        let result = try await exporter().export(filled().snapshot)
        #expect(result == .partiallyAccepted(rejectedDataPoints: 7, reason: "too old"))
        #expect(try await received().count == 1)
    }

    @Test(arguments: [(429, "40", Int64(40)), (503, "40", 40), (503, "", 5), (502, "", 5), (503, "99999999", 3600)])
    func `A receiver that is busy gets nothing before the time that it names`(
        status: Int, retryAfter: String, pause: Int64
    ) async throws {
        let exporter = exporter()
        let analytics = filled()
        try await answer(#"{"status": \#(status), "retry_after": "\#(retryAfter)"}"#)
        await #expect(throws: NetworkError.self) { try await exporter.export(analytics.snapshot) }
        try await answer(#"{"status": 200}"#)
        clock.advance(pause - 1)
        #expect(try await exporter.export(analytics.snapshot) == .postponed(.seconds(1)))
        #expect(try await received().count == 1)
        clock.advance(1)
        #expect(try await exporter.export(analytics.snapshot) == .accepted)
        #expect(try await received().count == 2)
    }

    @Test func `A pause ends with a clock that is set back`() async throws {
        let exporter = exporter()
        let analytics = filled()
        try await answer(#"{"status": 503, "retry_after": "40"}"#)
        await #expect(throws: NetworkError.self) { try await exporter.export(analytics.snapshot) }
        try await answer(#"{"status": 200}"#)
        clock.advance(-86_400)
        #expect(try await exporter.export(analytics.snapshot) == .accepted)
    }

    @Test func `A refusal for good is an error without a pause, and a redirect is not followed`() async throws {
        let exporter = exporter()
        for status in [400, 401, 500] {
            try await answer(#"{"status": \#(status)}"#)
            let error = await #expect(throws: NetworkError.self) { try await exporter.export(TokenAnalytics().snapshot) }
            #expect(error?.statusCode == status)
        }
        #expect(try await received().count == 3)
        let other = try ScriptedServer(.init(body: "{}"))
        let moved = try ScriptedServer(.init(status: 307, headers: ["Location: \(other.url)/v1/metrics"]))
        let error = await #expect(throws: NetworkError.self) {
            try await OTLPExporter(endpoint: moved.url, serviceName: "shop").export(TokenAnalytics().snapshot)
        }
        #expect(error?.statusCode == 307 && other.count == 0)
    }

    @Test(
        arguments: [
            ("", "/v1/metrics"), ("/", "/v1/metrics"), ("/otlp//", "/otlp/v1/metrics"), ("/v1/metrics", "/v1/metrics"),
            ("/otlp/?key=a/b", "/otlp/v1/metrics?key=a/b"), ("?key=/v1/metrics", "/v1/metrics?key=/v1/metrics"),
            ("/v1/metrics?key=1", "/v1/metrics?key=1"), ("/otlp#part", "/otlp/v1/metrics"),
        ])
    func `The path of metrics is appended to the URL's path`(given: String, sent: String) async throws {
        let lines = Collected<String>()
        let server = try RawServer { connection, _ in
            guard let request = connection.readRequest() else { return }
            lines.append(String(request.head.prefix { $0 != "\r\n" }))
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        }
        let exporter = OTLPExporter(endpoint: "\(server.url)\(given)", serviceName: "shop")
        #expect(try await exporter.export(TokenAnalytics().snapshot) == .accepted)
        #expect(lines.values == ["POST \(sent) HTTP/1.1"])
        withExtendedLifetime(server) {}
    }

    @Test func `Exports at intervals survive a receiver that is gone, and end with their task`() async throws {
        let logger = CollectedLines()
        let analytics = filled()
        let gone = OTLPExporter(endpoint: "http://127.0.0.1:\(try RawServer.closedPort())", serviceName: "shop", logger: logger)
        let failing = Task { await gone.run(analytics, every: .milliseconds(1)) }
        #expect(await eventually { logger.lines.count >= 2 })
        failing.cancel()
        await failing.value
        #expect(logger.lines.allSatisfy { $0.contains("metrics were not exported") })
        let running = Task { [exporter = exporter()] in await exporter.run(analytics, every: .milliseconds(1)) }
        #expect(try await eventually { try await received().count >= 2 })
        running.cancel()
        await running.value
    }

    @Test func `One export is in progress at a time, and requests don't wait for it`() async throws {
        let slow = try ScriptedServer(.init(body: "{}"))
        let gate = slow.hold()
        let analytics = filled()
        let exporter = OTLPExporter(endpoint: "\(slow.url)/v1/metrics", serviceName: "shop")
        async let first = exporter.export(analytics.snapshot)
        #expect(await eventually { slow.count == 1 })
        #expect(try await exporter.export(analytics.snapshot) == .postponed(.zero))
        analytics.requestFinished(TokenRequestEvent(route: "GET /", outcome: .success))
        #expect(analytics.snapshot.requestCount(of: "GET /") == 1)
        gate.set()
        #expect(try await first == .accepted)
        #expect(slow.requests.first?.line == "POST /v1/metrics HTTP/1.1")
    }
}

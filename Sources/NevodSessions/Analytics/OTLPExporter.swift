internal import Foundation
public import NevodHost
internal import NevodStorage
internal import NevodSupport

/// Sends the numbers of a ``TokenAnalytics`` to an OpenTelemetry receiver: OTLP/HTTP with JSON (POST `/v1/metrics`).
///
/// ```swift
/// let exporter = OTLPExporter(endpoint: "http://127.0.0.1:4318", serviceName: "shop")
/// let exports = Task { await exporter.run(analytics, every: .seconds(60)) }
/// ```
///
/// The app's requests never wait for an export. A failed export isn't repeated, because the next one has all numbers from the
/// start. After a 429, 502, 503 or 504, no export is sent until the time in `Retry-After` (RFC 9110 §10.2.3), or, without that
/// field, until a pause has passed, which grows up to 5 minutes.
public final class OTLPExporter: Sendable {
    private struct State {
        var isExporting = false
        var backoff = Backoff(baseDelay: .seconds(5), maxDelay: .seconds(300), longestPause: .seconds(3600))
    }

    private let url: String
    private let provider: NetworkProvider
    private let resource: [(name: String, value: String)]
    private let timeout: Duration
    private let logger: (any NetworkLogger)?
    private let clock: HostClock
    private let state = Locked(State())

    private static let maxResponseSize = 64 << 10

    /// - Parameters:
    ///   - endpoint: the receiver's URL. `/v1/metrics` is appended to its path, unless the path ends with it.
    ///   - serviceName: the attribute `service.name` of the resource.
    ///   - attributes: further attributes of the resource.
    ///   - provider: sends the exports. Give it an interceptor if the receiver needs a credential.
    ///   - timeout: the limit for one export.
    ///   - logger: receives a line for each export of ``run(_:every:)`` that fails, or that the receiver accepts only in part.
    ///   - clock: measures the pauses.
    public init(
        endpoint: some URLRepresentation, serviceName: String, attributes: [String: String] = [:],
        provider: NetworkProvider = NetworkProvider(session: CurlSession()), timeout: Duration = .seconds(10),
        logger: (any NetworkLogger)? = nil, clock: HostClock = .system
    ) {
        url = Self.url(endpoint.urlString)
        self.provider = provider
        self.timeout = timeout
        self.logger = logger
        self.clock = clock
        resource =
            [(name: "service.name", value: serviceName)]
            + attributes.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    private static func url(_ endpoint: String) -> String {
        // The path ends before the query and the fragment.
        let end = endpoint.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? endpoint.endIndex
        var path = endpoint[..<end]
        guard !path.hasSuffix("/v1/metrics") else { return endpoint }
        while path.hasSuffix("/") { path.removeLast() }
        return "\(path)/v1/metrics\(endpoint[end...])"
    }

    /// Exports at intervals until the task is cancelled. Call ``export(_:)`` afterwards to send the numbers since the last
    /// export.
    public func run(_ analytics: TokenAnalytics, every interval: Duration = .seconds(60)) async {
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: max(interval, .milliseconds(1)))
                if case .partiallyAccepted(let count, let reason) = try await export(analytics.snapshot) {
                    logger?.warning("the receiver of metrics refused \(count) data points", ["reason": reason])
                }
            } catch is CancellationError {
                return
            } catch NetworkError.cancelled {
                return
            } catch {
                logger?.warning("metrics were not exported; the next export has all numbers", ["error": "\(error)"])
            }
        }
    }

    /// Sends a snapshot, unless the receiver has asked for a pause or an export is in progress.
    ///
    /// - Throws: always a `NetworkError`.
    public func export(_ snapshot: TokenAnalyticsSnapshot) async throws -> OTLPExportResult {
        if let pause = begin() { return .postponed(pause) }
        defer { state.withLock { $0.isExporting = false } }
        let response = try await post(snapshot.otlp(resource: resource).encoded.copied(as: [UInt8].self))
        if [429, 502, 503, 504].contains(response.status) {
            let now = clock.now
            let asked = response.retryAfter(now: now)
            state.withLock { $0.backoff.fail(asked: asked, at: now) }
        }
        if let error = NetworkError(response) { throw error }
        state.withLock { $0.backoff.succeed() }
        return Self.result(of: response)
    }

    /// Returns the remaining pause, or nil to export.
    private func begin() -> Duration? {
        let now = clock.now
        return state.withLock { state in
            if state.isExporting { return .zero }
            if let rest = state.backoff.rest(at: now) { return rest }
            state.isExporting = true
            return nil
        }
    }

    private func post(_ body: [UInt8]) async throws -> HTTPResponse {
        let request: HTTPRequest
        do throws(InvalidRequestError) {
            var made = try HTTPRequest(.post, url, body: .bytes(body))
            try made.setHeader("Content-Type", "application/json")
            request = made
        } catch {
            throw NetworkError.invalidURL(error)
        }
        return try await provider.send(
            request,
            RequestOptions(
                timeout: timeout, delivery: .collected(limit: Self.maxResponseSize), redirects: .none,
                retryPolicy: RetryPolicy.none))
    }

    /// Reads `partialSuccess`. An unreadable body isn't a failure: the receiver's status says that it took the request.
    private static func result(of response: HTTPResponse) -> OTLPExportResult {
        guard case .bytes(let body) = response.body, let partial = (try? JSONValue(response: body))?["partialSuccess"] else {
            return .accepted
        }
        let points = partial["rejectedDataPoints"]
        guard let count = points?.integer ?? points?.string.flatMap({ Int64($0) }), count > 0 else { return .accepted }
        return .partiallyAccepted(
            rejectedDataPoints: Int(count), reason: String((partial["errorMessage"]?.string ?? "").prefix(1000)))
    }
}

/// The result of an export to an OTLP receiver.
public enum OTLPExportResult: Sendable, Hashable {
    /// The receiver has accepted all points.
    case accepted
    /// The receiver has accepted the request, but has rejected some points for good, for this reason.
    case partiallyAccepted(rejectedDataPoints: Int, reason: String)
    /// Nothing was sent: either the receiver asked for a pause, which lasts this much longer, or another export is in progress,
    /// and the duration is zero.
    case postponed(Duration)
}

extension TokenAnalyticsSnapshot {
    /// The body of a request to an OTLP receiver (`ExportMetricsServiceRequest`) as JSON: names in camelCase, 64-bit integers as
    /// strings, enumerations as numbers.
    ///
    /// - Parameter resource: the attributes of the program, such as `service.name`.
    func otlp(resource: [(name: String, value: String)]) -> JSONValue {
        var metrics = [
            sum("nevod.token.refreshes", "{refresh}", orderedRefreshes.map { ([("outcome", $0.outcome)], $0.count) }),
            histogram("nevod.token.refresh.duration", refreshDurations),
            sum(
                "nevod.token.requests", "{request}",
                orderedRequests.map { ([("route", $0.key.route), ("outcome", $0.key.outcome.rawValue)], $0.count) }),
            histogram("nevod.token.age", tokenAges),
        ]
        if !users.isEmpty {
            metrics.append(
                sum("nevod.token.user.requests", "{request}", orderedUsers.map { ([("user", $0.user)], $0.metric.requestCount) }))
        }
        return [
            "resourceMetrics": [
                [
                    "resource": ["attributes": Self.attributes(resource)],
                    "scopeMetrics": [["scope": ["name": "NevodSessions"], "metrics": .array(metrics)]],
                ]
            ]
        ]
    }

    private typealias Labels = [(name: String, value: String)]

    /// AGGREGATION_TEMPORALITY_CUMULATIVE: each point counts from the start, so a lost export loses nothing.
    private static var cumulative: JSONValue { 2 }

    private func sum(_ name: String, _ unit: String, _ points: [(labels: Labels, count: Int)]) -> JSONValue {
        [
            "name": .string(name), "unit": .string(unit),
            "sum": [
                "dataPoints": .array(
                    points.map { point in
                        .object(pointMembers(point.labels) + [JSONValue.Member("asInt", .string("\(point.count)"))])
                    }),
                "aggregationTemporality": Self.cumulative, "isMonotonic": true,
            ],
        ]
    }

    private func histogram(_ name: String, _ histogram: MetricHistogram) -> JSONValue {
        let point = [
            JSONValue.Member("count", .string("\(histogram.count)")), JSONValue.Member("sum", .number(histogram.sum)),
            JSONValue.Member("max", .number(histogram.max)),
            JSONValue.Member("bucketCounts", .array(histogram.buckets.map { .string("\($0)") })),
            JSONValue.Member("explicitBounds", .array(histogram.bounds.map { .number($0) })),
        ]
        return [
            "name": .string(name), "unit": "s",
            "histogram": [
                "dataPoints": [.object(pointMembers([]) + point)], "aggregationTemporality": Self.cumulative,
            ],
        ]
    }

    private func pointMembers(_ labels: Labels) -> [JSONValue.Member] {
        [
            JSONValue.Member("attributes", Self.attributes(labels)),
            JSONValue.Member("startTimeUnixNano", .string("\(max(0, started.nanoseconds))")),
            JSONValue.Member("timeUnixNano", .string("\(max(0, taken.nanoseconds))")),
        ]
    }

    private static func attributes(_ labels: Labels) -> JSONValue {
        .array(labels.map { ["key": .string($0.name), "value": ["stringValue": .string($0.value)]] })
    }
}

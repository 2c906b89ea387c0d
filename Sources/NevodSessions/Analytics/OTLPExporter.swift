internal import Foundation
public import NevodHost
internal import NevodStorage
internal import NevodSupport

/// Sends the numbers of a ``TokenAnalytics`` to a receiver of OpenTelemetry: OTLP/HTTP with JSON (POST `/v1/metrics`).
///
/// ```swift
/// let exporter = OTLPExporter(endpoint: "http://127.0.0.1:4318", serviceName: "shop")
/// let exports = Task { await exporter.run(analytics, every: .seconds(60)) }
/// ```
///
/// No request of the app waits for an export. An export that fails is not repeated, since the next one has all numbers from the start.
/// After a 429, 502, 503 or 504, none is sent before the time that `Retry-After` names (RFC 9110 §10.2.3), or else after a pause that
/// grows up to 5 minutes.
public final class OTLPExporter: Sendable {
    private struct State {
        var isExporting = false
        var failures = 0
        var resumesAt: UnixTime?
    }

    private let url: String
    private let provider: NetworkProvider
    private let resource: [(name: String, value: String)]
    private let timeout: Duration
    private let logger: (any NetworkLogger)?
    private let clock: HostClock
    private let state = Locked(State())

    private static let backoff = RetryPolicy(baseDelay: .seconds(5), maxDelay: .seconds(300))
    private static let longestPause = Duration.seconds(3600)
    private static let maxResponseSize = 64 << 10

    /// - Parameters:
    ///   - endpoint: the receiver's URL. `/v1/metrics` is appended unless its path ends so.
    ///   - serviceName: the attribute `service.name` of the resource.
    ///   - attributes: further attributes of the resource.
    ///   - provider: sends the exports; with an interceptor for a receiver that needs a credential.
    ///   - timeout: the limit for one export.
    ///   - logger: receives a line for each export of ``run(_:every:)`` that fails, or that the receiver takes only in part.
    ///   - clock: measures the pauses.
    public init(
        endpoint: some URLRepresentation, serviceName: String, attributes: [String: String] = [:],
        provider: NetworkProvider = NetworkProvider(session: CurlSession()), timeout: Duration = .seconds(10),
        logger: (any NetworkLogger)? = nil, clock: HostClock = .system
    ) {
        var url = endpoint.urlString
        if !url.hasSuffix("/v1/metrics") {
            while url.hasSuffix("/") { url.removeLast() }
            url += "/v1/metrics"
        }
        self.url = url
        self.provider = provider
        self.timeout = timeout
        self.logger = logger
        self.clock = clock
        resource =
            [(name: "service.name", value: serviceName)]
            + attributes.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    /// Exports at intervals until the task is cancelled. The numbers since the last export are then not sent; ``export(_:)`` sends
    /// them.
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
        if [429, 502, 503, 504].contains(response.status) { postpone(response.retryAfter(now: clock.now)) }
        if let error = NetworkError(response) { throw error }
        state.withLock { state in
            state.failures = 0
            state.resumesAt = nil
        }
        return Self.result(of: response)
    }

    /// Returns the pause that is left, or nil to export.
    private func begin() -> Duration? {
        let now = clock.now
        return state.withLock { state in
            if state.isExporting { return .zero }
            // A pause that ends later than any can was begun before the clock was set back.
            if let resumesAt = state.resumesAt, resumesAt > now, resumesAt - now <= Self.longestPause { return resumesAt - now }
            state.isExporting = true
            return nil
        }
    }

    private func postpone(_ asked: Duration?) {
        let now = clock.now
        state.withLock { state in
            state.failures = min(state.failures + 1, 100)
            state.resumesAt = now + min(asked ?? Self.backoff.delay(after: state.failures), Self.longestPause)
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

    /// Reads `partialSuccess`. A body that can't be read is no failure: the receiver has said that it took the request.
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

import NevodSessions

/// A client whose renewals and requests are counted.
struct MeasuredClient: Sendable {
    let analytics: TokenAnalytics
    let client: AuthenticatingHTTPClient

    init(baseURL: String, tokenProvider: some TokenProvider, session: any HTTPTransport = CurlSession()) {
        analytics = TokenAnalytics()
        client = AuthenticatingHTTPClient(
            baseURL: baseURL, tokenProvider: analytics.measuring(tokenProvider), session: session, interceptors: [analytics])
    }

    /// The body of a route such as `/metrics`, for Prometheus.
    var metricsPage: String { analytics.snapshot.prometheusText }

    /// Exports to an OpenTelemetry collector until the task is cancelled.
    func export(to collector: String, session: any HTTPTransport = CurlSession()) async {
        let exporter = OTLPExporter(
            endpoint: collector, serviceName: "shop", provider: NetworkProvider(session: session))
        await exporter.run(analytics, every: .seconds(60))
    }
}

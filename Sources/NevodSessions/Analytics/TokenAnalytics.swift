public import NevodHost
internal import NevodSupport

/// Counts what happens to tokens: renewals, their durations and failures, requests by route, and the ages of tokens when they are used.
///
/// It is composed from outside: an interceptor sees the requests, and a wrapped provider the renewals.
///
/// ```swift
/// let analytics = TokenAnalytics()
/// let client = AuthenticatingHTTPClient(
///     baseURL: baseURL, tokenProvider: analytics.measuring(tokenProvider), interceptors: [analytics])
/// print(analytics.snapshot.refreshCount)
/// ```
///
/// Each attempt that carries a bearer token counts, also one that is sent again. A label has no value of a request: a route is named
/// by its template (`GET /users/{}/posts`), and users are counted only if asked for. Memory is bounded: routes and users beyond the
/// limits are counted as `other`. A request waits for nothing but a short lock.
public final class TokenAnalytics: OutcomeObserver, TokenMetrics {
    private let users: UserLabel
    private let receivers: [any TokenMetrics]
    private let clock: HostClock
    private let table: Locked<AnalyticsTable>
    private let seen = Locked(SeenTokens())

    /// - Parameters:
    ///   - users: names the user of a token; by default users aren't counted.
    ///   - maxRoutes: the most routes that are told apart.
    ///   - maxUsers: the most users that are told apart.
    ///   - receivers: receive each event too.
    ///   - clock: measures the ages of tokens.
    public init(
        users: UserLabel = .none, maxRoutes: Int = 200, maxUsers: Int = 1000,
        forwardingTo receivers: [any TokenMetrics] = [], clock: HostClock = .system
    ) {
        self.users = users
        self.receivers = receivers
        self.clock = clock
        table = Locked(AnalyticsTable(maxRoutes: maxRoutes, maxUsers: maxUsers, at: clock.now))
    }

    /// All numbers so far.
    public var snapshot: TokenAnalyticsSnapshot {
        let now = clock.now
        return table.withLock { $0.snapshot(at: now) }
    }

    /// The use of a user's tokens; nil if the user isn't counted.
    public func metric(for user: String) -> TokenMetric? {
        table.withLock { $0.metric(of: user) }
    }

    public func refreshFinished(_ event: TokenRefreshEvent) {
        table.withLock { $0.record(event) }
        for receiver in receivers { receiver.refreshFinished(event) }
    }

    public func requestFinished(_ event: TokenRequestEvent) {
        let now = clock.now
        let countsUsers = users.label != nil
        table.withLock { $0.record(event, of: countsUsers ? event.user : nil, at: now) }
        for receiver in receivers { receiver.requestFinished(event) }
    }

    public func observe(_ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>) async {
        guard let token = Self.bearerToken(of: exchange.request) else { return }
        let now = clock.now
        let facts = seen.withLock { [users] in $0.facts(of: token, users, at: now) }
        requestFinished(
            TokenRequestEvent(
                route: Self.label(of: exchange.request), outcome: TokenRequestEvent.Outcome(status: (try? outcome.get())?.status),
                tokenAge: now - facts.issuedAt, user: facts.user))
    }

    /// Learns when a token was issued, if it doesn't tell itself.
    func noteIssued(_ token: String) {
        let now = clock.now
        _ = seen.withLock { [users] in $0.facts(of: token, users, at: now) }
    }

    /// The scheme's name is compared without regard to case (RFC 9110 §11.1).
    private static func bearerToken(of request: HTTPRequest) -> String? {
        guard let value = request.headers["Authorization"] else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }

    private static func label(of request: HTTPRequest) -> String {
        guard let route = request.route else { return "\(request.method) \(AnalyticsTable.other)" }
        return "\(route.method) \(route.template ?? route.typeName)"
    }
}

public import NevodHost
public import NevodJWT
internal import NevodSupport

/// Counts renewals of tokens with their durations and failures, requests by route, and the ages of tokens at use.
///
/// Add it to a client as an interceptor, so that it sees the requests, and wrap the client's token provider with
/// ``measuring(_:)``, so that it sees the renewals.
///
/// ```swift
/// let analytics = TokenAnalytics()
/// let client = AuthenticatingHTTPClient(
///     baseURL: baseURL, tokenProvider: analytics.measuring(tokenProvider), interceptors: [analytics])
/// print(analytics.snapshot.refreshCount)
/// ```
///
/// Each attempt that carries a bearer token counts, including retries. Labels contain no values from requests: a route is named
/// by its template (`GET /users/{}/posts`), and users are counted only if asked for. Memory is bounded: routes and users beyond
/// the limits are counted as `other`. A request waits only for a short lock.
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
    ///   - receivers: receive each event, too.
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

    /// Notes when a token was issued, in case the token itself doesn't say.
    func noteIssued(_ token: String) {
        let now = clock.now
        _ = seen.withLock { [users] in $0.facts(of: token, users, at: now) }
    }

    /// Compares the scheme's name without regard to case (RFC 9110 §11.1).
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

extension TokenAnalytics {
    /// Returns a provider with the same tokens whose renewals are counted. A renewal that several requests share is counted once.
    ///
    /// A renewal includes the verification of its tokens only if the provider does that: `measuring(VerifyingTokenProvider(…))`.
    /// A client's own validator runs after the measurement.
    public func measuring(_ provider: some TokenProvider) -> some TokenProvider {
        MeasuredTokenProvider(base: provider, analytics: self)
    }
}

private struct MeasuredTokenProvider<Base: TokenProvider>: TokenProvider {
    let base: Base
    let analytics: TokenAnalytics

    var tokens: SessionTokens { base.tokens }

    func refresh(_ tokens: AuthTokens) async throws -> AuthTokens {
        let start = ContinuousClock.now
        do {
            let new = try await base.refresh(tokens)
            analytics.noteIssued(new.accessToken)
            analytics.refreshFinished(TokenRefreshEvent(duration: ContinuousClock.now - start))
            return new
        } catch {
            analytics.refreshFinished(
                TokenRefreshEvent(failure: RefreshFailure(error), duration: ContinuousClock.now - start))
            throw error
        }
    }
}

/// Names the user of a token in statistics. By default users are not counted, and no label has a user.
///
/// ```swift
/// let analytics = TokenAnalytics(users: .byClaim("sub"))
/// ```
///
/// The label is kept in memory and exported as it is. If an identifier must not leave the program, let `by(_:)` return another
/// string instead, such as a keyed digest.
public struct UserLabel: Sendable {
    let label: (@Sendable (JWTClaims) -> String?)?

    /// Counts no users.
    public static let none = UserLabel(label: nil)

    /// Counts by a claim of the access token, such as `sub` (RFC 7519 §4.1.2). The claim is a string or a whole number.
    public static func byClaim(_ name: String) -> UserLabel {
        UserLabel { claims in claims[string: name] ?? claims[int: name].map(String.init) }
    }

    /// Counts by a function of the access token's unverified claims. It returns nil for a token that isn't counted.
    public static func by(_ label: @escaping @Sendable (JWTClaims) -> String?) -> UserLabel {
        UserLabel(label: label)
    }
}

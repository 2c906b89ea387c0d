internal import Foundation
internal import NevodHost
internal import NevodHostFoundation
internal import NevodJWT

/// Adds up events, within fixed limits. A state machine without a clock: callers pass the time.
struct AnalyticsTable: Sendable {
    /// The label for everything beyond a limit.
    static let other = "other"
    /// The length at which a user's label is cut, in characters: a token's claim can have any length.
    private static let maxUserLength = 128

    private let maxRoutes: Int
    private let maxUsers: Int
    private var routes: Set<String> = []
    private var counts: TokenAnalyticsSnapshot

    init(maxRoutes: Int, maxUsers: Int, at now: UnixTime) {
        self.maxRoutes = maxRoutes
        self.maxUsers = maxUsers
        counts = TokenAnalyticsSnapshot(started: now, taken: now)
    }

    mutating func record(_ event: TokenRefreshEvent) {
        if let failure = event.failure { counts.refreshFailures[failure, default: 0] += 1 } else { counts.refreshCount += 1 }
        counts.refreshDurations.record(event.duration.inSeconds)
    }

    /// - Parameter user: nil if users aren't counted.
    mutating func record(_ event: TokenRequestEvent, of user: String?, at now: UnixTime) {
        let route = label(of: event.route)
        counts.requests[TokenAnalyticsSnapshot.RequestKey(route: route, outcome: event.outcome), default: 0] += 1
        if let age = event.tokenAge { counts.tokenAges.record(age.inSeconds) }
        guard let user else { return }
        let known = String(user.prefix(Self.maxUserLength))
        let name = counts.users[known] != nil || counts.users.count < maxUsers ? known : Self.other
        let time = Date(now)
        counts.users[name, default: TokenMetric(at: time)].recordRequest(to: route, at: time)
    }

    func metric(of user: String) -> TokenMetric? {
        counts.users[String(user.prefix(Self.maxUserLength))]
    }

    func snapshot(at now: UnixTime) -> TokenAnalyticsSnapshot {
        var snapshot = TokenAnalyticsSnapshot(started: counts.started, taken: max(now, counts.started))
        snapshot.refreshCount = counts.refreshCount
        snapshot.refreshFailures = counts.refreshFailures
        snapshot.refreshDurations = counts.refreshDurations
        snapshot.requests = counts.requests
        snapshot.tokenAges = counts.tokenAges
        snapshot.users = counts.users
        return snapshot
    }

    private mutating func label(of route: String) -> String {
        if routes.contains(route) { return route }
        guard routes.count < maxRoutes else { return Self.other }
        routes.insert(route)
        return route
    }
}

/// Facts about the most recently used tokens, for statistics. No token is kept: a token is recognized by its hash, whose key is
/// random for each process.
struct SeenTokens: Sendable {
    struct Facts: Sendable {
        /// When the token was issued according to its claim `iat` (RFC 7519 §4.1.6), or else when it was first seen.
        let issuedAt: UnixTime
        let user: String?
    }

    private let limit: Int
    private var facts: [Int: Facts] = [:]
    /// The hashes in order of arrival.
    private var order: [Int] = []
    private var oldest = 0

    init(limit: Int = 1024) {
        self.limit = limit
    }

    mutating func facts(of token: String, _ users: UserLabel, at now: UnixTime) -> Facts {
        var hasher = Hasher()
        hasher.combine(token)
        let hash = hasher.finalize()
        if let known = facts[hash] { return known }
        let claims = (try? JSONWebToken(token))?.unverifiedClaims
        let issued = claims?.issuedAt.flatMap(UnixTime.init(numericDate:))
        let new = Facts(issuedAt: issued ?? now, user: claims.flatMap { users.label?($0) })
        if order.count < limit {
            order.append(hash)
        } else {
            facts[order[oldest]] = nil
            order[oldest] = hash
            oldest = (oldest + 1) % limit
        }
        facts[hash] = new
        return new
    }
}

internal import Foundation
internal import NevodHost

/// Adds events up, within fixed limits: a state machine that gets every time as an argument.
struct AnalyticsTable: Sendable {
    /// The label of what is beyond a limit.
    static let other = "other"
    /// The longest label of a user, in characters; a token's claim can be of any length.
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
        let time = Date(timeIntervalSince1970: Double(now.nanoseconds) / 1e9)
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

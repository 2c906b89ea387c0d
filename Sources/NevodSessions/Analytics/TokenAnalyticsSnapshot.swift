public import Foundation
internal import NevodHost

/// The numbers that a ``TokenAnalytics`` has counted since it was created.
public struct TokenAnalyticsSnapshot: Sendable, Hashable {
    /// A route, and the outcome of attempts that it was requested with.
    public struct RequestKey: Sendable, Hashable {
        /// As ``TokenRequestEvent/route``; `other` for all routes beyond the limit.
        public let route: String
        /// The outcome of the attempts.
        public let outcome: TokenRequestEvent.Outcome

        /// Creates a key, to look a number up.
        public init(route: String, outcome: TokenRequestEvent.Outcome) {
            self.route = route
            self.outcome = outcome
        }
    }

    let started: UnixTime
    let taken: UnixTime
    /// The renewals that have succeeded.
    public internal(set) var refreshCount = 0
    /// The renewals that have failed, by cause.
    public internal(set) var refreshFailures: [RefreshFailure: Int] = [:]
    /// The times that renewals took, whatever their outcome, in seconds.
    public internal(set) var refreshDurations = MetricHistogram(bounds: MetricHistogram.durations)
    /// The attempts that carried a token, by route and outcome.
    public internal(set) var requests: [RequestKey: Int] = [:]
    /// The ages of tokens when they were used, in seconds.
    public internal(set) var tokenAges = MetricHistogram(bounds: MetricHistogram.ages)
    /// The use of each user's tokens, if users are counted; `other` for all users beyond the limit.
    public internal(set) var users: [String: TokenMetric] = [:]

    init(started: UnixTime, taken: UnixTime) {
        self.started = started
        self.taken = taken
    }

    /// When counting began.
    public var startTime: Date { Date(timeIntervalSince1970: Double(started.nanoseconds) / 1e9) }
    /// When the snapshot was taken.
    public var time: Date { Date(timeIntervalSince1970: Double(taken.nanoseconds) / 1e9) }

    /// The attempts to a route that carried a token, whatever their outcome.
    public func requestCount(of route: String) -> Int {
        requests.reduce(0) { $1.key.route == route ? $0 + $1.value : $0 }
    }
}

extension TokenAnalyticsSnapshot {
    /// The requests in the order of their labels, so that exports of equal numbers are equal.
    var orderedRequests: [(key: RequestKey, count: Int)] {
        requests.map { (key: $0.key, count: $0.value) }
            .sorted { ($0.key.route, $0.key.outcome.rawValue) < ($1.key.route, $1.key.outcome.rawValue) }
    }

    /// The number of renewals by their label: each cause, and those that have succeeded.
    var orderedRefreshes: [(outcome: String, count: Int)] {
        [(outcome: "succeeded", count: refreshCount)]
            + RefreshFailure.allCases.map { (outcome: $0.rawValue, count: refreshFailures[$0] ?? 0) }
    }

    var orderedUsers: [(user: String, metric: TokenMetric)] {
        users.map { (user: $0.key, metric: $0.value) }.sorted { $0.user < $1.user }
    }
}

public import Foundation
internal import NevodHost
internal import NevodHostFoundation

/// The numbers that a ``TokenAnalytics`` has counted since it was created.
public struct TokenAnalyticsSnapshot: Sendable, Hashable {
    /// A route and an outcome, for which attempts are counted.
    public struct RequestKey: Sendable, Hashable {
        /// Like ``TokenRequestEvent/route``; `other` for all routes beyond the limit.
        public let route: String
        /// The outcome of the attempts.
        public let outcome: TokenRequestEvent.Outcome

        /// Creates a key for looking up a number.
        public init(route: String, outcome: TokenRequestEvent.Outcome) {
            self.route = route
            self.outcome = outcome
        }
    }

    let started: UnixTime
    let taken: UnixTime
    /// The number of renewals that have succeeded.
    public internal(set) var refreshCount = 0
    /// The number of renewals that have failed, by cause.
    public internal(set) var refreshFailures: [RefreshFailure: Int] = [:]
    /// The durations of renewals, whatever their outcome, in seconds.
    public internal(set) var refreshDurations = MetricHistogram(bounds: MetricHistogram.durations)
    /// The number of attempts that carried a token, by route and outcome.
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
    public var startTime: Date { Date(started) }
    /// When the snapshot was taken.
    public var time: Date { Date(taken) }

    /// The number of attempts to a route that carried a token, whatever their outcome.
    public func requestCount(of route: String) -> Int {
        requests.reduce(0) { $1.key.route == route ? $0 + $1.value : $0 }
    }
}

extension TokenAnalyticsSnapshot {
    /// The requests sorted by label, so that equal numbers make equal exports.
    var orderedRequests: [(key: RequestKey, count: Int)] {
        requests.map { (key: $0.key, count: $0.value) }
            .sorted { ($0.key.route, $0.key.outcome.rawValue) < ($1.key.route, $1.key.outcome.rawValue) }
    }

    /// The number of renewals for each label: "succeeded", and the causes of failures.
    var orderedRefreshes: [(outcome: String, count: Int)] {
        [(outcome: "succeeded", count: refreshCount)]
            + RefreshFailure.allCases.map { (outcome: $0.rawValue, count: refreshFailures[$0] ?? 0) }
    }

    var orderedUsers: [(user: String, metric: TokenMetric)] {
        users.map { (user: $0.key, metric: $0.value) }.sorted { $0.user < $1.user }
    }
}

/// The use of a user's tokens.
public struct TokenMetric: Sendable, Hashable {
    /// The number of attempts that carried a token of the user.
    public private(set) var requestCount = 0
    /// When the last of these attempts finished.
    public private(set) var lastUsed: Date
    /// The routes, as in ``TokenRequestEvent/route``.
    public private(set) var endpoints: Set<String> = []

    init(at time: Date) {
        lastUsed = time
    }

    mutating func recordRequest(to endpoint: String, at time: Date) {
        requestCount += 1
        lastUsed = time
        endpoints.insert(endpoint)
    }
}

/// Counts values in buckets with fixed bounds, so its size doesn't depend on the number of values.
public struct MetricHistogram: Sendable, Hashable {
    /// The upper bounds of all buckets but the last, inclusive, in ascending order.
    public let bounds: [Double]
    /// The number of values in each bucket. There is one bucket more than there are bounds: the last bucket is unbounded.
    public private(set) var buckets: [Int]
    /// The number of values.
    public private(set) var count = 0
    /// The sum of the values.
    public private(set) var sum = 0.0
    /// The largest value; zero if there is none.
    public private(set) var max = 0.0

    init(bounds: [Double]) {
        self.bounds = bounds
        buckets = Array(repeating: 0, count: bounds.count + 1)
    }

    /// - Parameter value: not negative, and finite.
    mutating func record(_ value: Double) {
        buckets[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        count += 1
        sum += value
        max = Swift.max(max, value)
    }

    /// The bounds of durations, in seconds.
    static let durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
    /// The bounds of a token's age, in seconds: up to a week.
    static let ages: [Double] = [1, 10, 60, 300, 900, 1800, 3600, 14_400, 86_400, 604_800]
}

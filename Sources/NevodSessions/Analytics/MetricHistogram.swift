/// Values counted in buckets with fixed bounds, so that its size doesn't depend on their number.
public struct MetricHistogram: Sendable, Hashable {
    /// The upper bounds of all buckets but the last, inclusive, in ascending order.
    public let bounds: [Double]
    /// The number of values in each bucket: one more than there are bounds, since the last has none.
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

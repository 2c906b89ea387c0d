public import Foundation

/// The use of a user's tokens.
public struct TokenMetric: Sendable, Hashable {
    /// The attempts that carried a token of the user.
    public private(set) var requestCount = 0
    /// When the last of them finished.
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

/// Receives each renewal of tokens and each request with a token, for an app's own statistics. (``TokenAnalytics``, in contrast,
/// is a receiver that adds the events up.)
///
/// ```swift
/// struct Printing: TokenMetrics {
///     func refreshFinished(_ event: TokenRefreshEvent) { print("refresh", event.duration) }
///     func requestFinished(_ event: TokenRequestEvent) { print(event.route, event.outcome) }
/// }
/// let analytics = TokenAnalytics(forwardingTo: [Printing()])
/// ```
///
/// No event contains a token. The methods are called concurrently, in the request's or the renewal's own task, so they must
/// return soon.
public protocol TokenMetrics: Sendable {
    /// Called once for each renewal, after it has succeeded or failed.
    func refreshFinished(_ event: TokenRefreshEvent)

    /// Called once for each attempt of a request that carried a token, after its response or failure.
    func requestFinished(_ event: TokenRequestEvent)
}

/// A renewal of tokens that has succeeded or failed.
public struct TokenRefreshEvent: Sendable, Hashable {
    /// The cause of the failure; nil for a success.
    public let failure: RefreshFailure?
    /// The time that the renewal took, with all its requests.
    public let duration: Duration

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - failure: the cause of the failure; nil for a success.
    ///   - duration: the time that the renewal took. A negative one counts as zero.
    public init(failure: RefreshFailure? = nil, duration: Duration) {
        self.failure = failure
        self.duration = max(.zero, duration)
    }
}

/// One attempt of a request that carried a token.
public struct TokenRequestEvent: Sendable, Hashable {
    /// The outcome of an attempt, without details that would multiply the labels. The raw value is the label.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// A response with status 200 … 299 (RFC 9110 §15).
        case success = "2xx"
        /// A response with status 300 … 399.
        case redirection = "3xx"
        /// A response with status 400 … 499.
        case clientError = "4xx"
        /// A response with status 500 … 599.
        case serverError = "5xx"
        /// No response, or one with another status.
        case failed

        /// - Parameter status: a response's status; nil if there was none.
        public init(status: Int?) {
            self =
                switch status ?? 0 {
                case 200...299: .success
                case 300...399: .redirection
                case 400...499: .clientError
                case 500...599: .serverError
                default: .failed
                }
        }
    }

    /// The method and the route's template, without values, such as `GET /users/{}/posts`; the name of the route's type if it has
    /// no template; `GET other` for a request without a route.
    public let route: String
    /// The outcome of the attempt.
    public let outcome: Outcome
    /// The time since the token was issued, or since it was first seen if the token doesn't say; nil if it isn't known.
    public let tokenAge: Duration?
    /// The token's user; nil unless asked for (see ``UserLabel``).
    public let user: String?

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - route: the route's label, without values.
    ///   - outcome: the outcome of the attempt.
    ///   - tokenAge: the time since the token was issued. A negative one counts as zero.
    ///   - user: the token's user, if users are counted.
    public init(route: String, outcome: Outcome, tokenAge: Duration? = nil, user: String? = nil) {
        self.route = route
        self.outcome = outcome
        self.tokenAge = tokenAge.map { max(.zero, $0) }
        self.user = user
    }
}

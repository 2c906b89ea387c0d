/// Why the keys of an issuer could not be fetched.
public struct RemoteKeyError: Error, Sendable, VerificationFailure, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable, Hashable {
        /// The URL isn't absolute, or is neither https nor on this machine.
        case url
        /// No response, a redirect to another origin, or a status other than 200.
        case unavailable
        /// The response is no key set, or has more keys or bytes than allowed.
        case unreadable
        /// The set has no key that can verify a signature.
        case empty
        /// The issuer's metadata is for another issuer, or names no usable `jwks_uri`.
        case metadata
    }

    /// The kind of failure.
    public let code: Code
    /// The URL that was fetched, without its query.
    public let url: String
    /// The problem, worded to follow the URL.
    public let problem: String
    /// The error behind it; nil if there is none.
    public let underlying: (any Error)?
    /// The pause that the server asked for.
    let retryAfter: Duration?

    init(_ code: Code, _ url: String, _ problem: String, underlying: (any Error)? = nil, retryAfter: Duration? = nil) {
        self.code = code
        self.url = String(url.prefix { $0 != "?" })
        self.problem = problem
        self.underlying = underlying
        self.retryAfter = retryAfter
    }

    public var description: String { "the keys of \(url): \(problem)" }
}

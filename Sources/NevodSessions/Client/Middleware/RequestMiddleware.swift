public import NevodHost

/// A change to how one request is sent: more interceptors, another transport, or other options. (An interceptor of the client, in
/// contrast, is for all of its requests.)
///
/// ```swift
/// func traced(by id: String) -> RequestMiddleware { .headers(["X-Trace": id]) }
///
/// let response = try await client.sendAuthenticated(.get("/orders")) {
///     traced(by: id)
///     RequestMiddleware.retry(maxRetries: 2)
/// }
/// ```
///
/// A request's interceptors run in their order, before the client's and before the token is added; signatures run last. All of
/// them run for each attempt and each redirect.
public struct RequestMiddleware: Sendable {
    let apply: @Sendable (inout RequestPlan) -> Void

    /// Combines several into one.
    public init(_ parts: [RequestMiddleware]) {
        apply = { plan in for part in parts { part.apply(&plan) } }
    }

    init(_ apply: @escaping @Sendable (inout RequestPlan) -> Void) {
        self.apply = apply
    }
}

extension RequestMiddleware {
    /// Combines several into one, with a builder.
    public static func all(@RequestMiddlewareBuilder _ parts: () -> [RequestMiddleware]) -> RequestMiddleware {
        RequestMiddleware(parts())
    }

    /// An interceptor for this request.
    public static func intercept(_ interceptor: some RequestInterceptor) -> RequestMiddleware {
        RequestMiddleware { $0.interceptors.append(interceptor) }
    }

    /// Adds header lines like a `HeadersInterceptor`: a line that the endpoint already has is kept, and secrets don't follow a
    /// redirect to another origin.
    public static func headers(_ headers: [String: String]) -> RequestMiddleware {
        intercept(HeadersInterceptor(headers: headers))
    }

    /// A signature over the final request, including its token and all header lines.
    ///
    /// Runs anew for each attempt and each redirect within the origin. After a redirect to another origin (RFC 6454) the request
    /// is not signed, and carries no earlier signature. Everything that `sign` writes is redacted in logs.
    ///
    /// - Parameters:
    ///   - readsBody: whether `sign` needs the body. If so, a body that can be read only once, or is larger than 64 MiB, fails
    ///     the request with an `UnshownBodyError`.
    ///   - sign: adds header lines or query items, given the request and its whole body; empty if `readsBody` is false.
    public static func signing(
        readsBody: Bool = true, _ sign: @escaping @Sendable (_ request: inout HTTPRequest, _ body: [UInt8]) throws -> Void
    ) -> RequestMiddleware {
        intercept(SigningInterceptor(readsBody: readsBody, sign: sign))
    }

    /// Another retry policy.
    public static func retry(_ policy: RetryPolicy) -> RequestMiddleware {
        options { $0.retryPolicy = policy }
    }

    /// The default retry policy, with this number of retries after the first attempt. It retries a method that isn't idempotent
    /// only if the server can't have acted on it; see `RetryPolicy`.
    public static func retry(maxRetries: Int) -> RequestMiddleware {
        retry(RetryPolicy(maxAttempts: min(max(0, maxRetries), 1 << 16) + 1))
    }

    /// A limit for all attempts and redirects together; nil for none.
    public static func timeout(_ timeout: Duration?) -> RequestMiddleware {
        options { $0.timeout = timeout }
    }

    /// Any other options.
    public static func options(_ change: @escaping @Sendable (inout RequestOptions) -> Void) -> RequestMiddleware {
        RequestMiddleware { change(&$0.options) }
    }

    /// A cache (RFC 9111) for the response, above the transport. Requests that name the same store share it.
    public static func cache(_ store: InMemoryCache) -> RequestMiddleware {
        transport { CachingSession($0, store: store) }
    }

    /// Another session, such as one with other limits for connections.
    public static func session(_ session: some HTTPTransport) -> RequestMiddleware {
        RequestMiddleware { $0.session = session }
    }

    /// A transport around the request's, such as a `CachingSession`.
    public static func transport(
        _ wrap: @escaping @Sendable (_ base: any HTTPTransport) -> any HTTPTransport
    ) -> RequestMiddleware {
        RequestMiddleware { $0.wrappers.append(wrap) }
    }
}

/// Builds the middleware of a request from its parts, with `if`, `switch` and `for`.
@resultBuilder
public enum RequestMiddlewareBuilder {
    /// One part.
    public static func buildExpression(_ part: RequestMiddleware) -> [RequestMiddleware] { [part] }
    /// Several parts, in their order.
    public static func buildBlock(_ parts: [RequestMiddleware]...) -> [RequestMiddleware] { parts.flatMap(\.self) }
    /// An `if` without `else`.
    public static func buildOptional(_ part: [RequestMiddleware]?) -> [RequestMiddleware] { part ?? [] }
    /// The first branch of an `if` or a `switch`.
    public static func buildEither(first part: [RequestMiddleware]) -> [RequestMiddleware] { part }
    /// Any other branch.
    public static func buildEither(second part: [RequestMiddleware]) -> [RequestMiddleware] { part }
    /// A `for`.
    public static func buildArray(_ parts: [[RequestMiddleware]]) -> [RequestMiddleware] { parts.flatMap(\.self) }
    /// An `if #available`.
    public static func buildLimitedAvailability(_ part: [RequestMiddleware]) -> [RequestMiddleware] { part }

    /// No middleware.
    public static func none() -> [RequestMiddleware] { [] }
}

/// The changes that middleware makes to the sending of one request.
struct RequestPlan {
    var interceptors: [any RequestInterceptor] = []
    /// Nil for the client's.
    var session: (any HTTPTransport)?
    /// Applied to the session, first to last.
    var wrappers: [@Sendable (any HTTPTransport) -> any HTTPTransport] = []
    var options: RequestOptions

    init(_ middleware: [RequestMiddleware], session: (any HTTPTransport)?, options: RequestOptions) {
        self.session = session
        self.options = options
        for part in middleware { part.apply(&self) }
    }

    /// Returns a provider that sends the request as planned.
    func provider(from provider: NetworkProvider) -> NetworkProvider {
        guard !interceptors.isEmpty || session != nil || !wrappers.isEmpty else { return provider }
        let transport = wrappers.reduce(session ?? provider.transport) { $1($0) }
        return provider.with(interceptors: interceptors, session: transport)
    }
}

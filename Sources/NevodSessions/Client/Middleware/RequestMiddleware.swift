public import NevodHost

/// A change to the sending of one request: more interceptors, another transport, or other options. (An interceptor of the client, in
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
/// Interceptors of a request run before the client's, in their order, and before its token is added; signatures run last. All of them
/// run for each attempt, and for each redirect.
public struct RequestMiddleware: Sendable {
    let apply: @Sendable (inout RequestPlan) -> Void

    /// Several as one.
    public init(_ parts: [RequestMiddleware]) {
        apply = { plan in for part in parts { part.apply(&plan) } }
    }

    init(_ apply: @escaping @Sendable (inout RequestPlan) -> Void) {
        self.apply = apply
    }
}

extension RequestMiddleware {
    /// Several as one, made by a builder.
    public static func all(@RequestMiddlewareBuilder _ parts: () -> [RequestMiddleware]) -> RequestMiddleware {
        RequestMiddleware(parts())
    }

    /// An interceptor for this request.
    public static func intercept(_ interceptor: some RequestInterceptor) -> RequestMiddleware {
        RequestMiddleware { $0.interceptors.append(interceptor) }
    }

    /// Header lines, as those of a `HeadersInterceptor`: a line that the endpoint has stays, and secrets don't follow a redirect to
    /// another origin.
    public static func headers(_ headers: [String: String]) -> RequestMiddleware {
        intercept(HeadersInterceptor(headers: headers))
    }

    /// A signature over the final request, with its token and with each header line that is sent.
    ///
    /// Runs anew for each attempt and each redirect within the origin. After a redirect to another origin (RFC 6454) the request is
    /// neither signed nor carries an earlier signature. All that `sign` writes is redacted in logs.
    ///
    /// - Parameters:
    ///   - readsBody: whether `sign` needs the body. One that can be read only once, or of more than 64 MiB, then fails the request
    ///     with an `UnshownBodyError`.
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

    /// The default retry policy with another number of retries after the first attempt. It retries a method that isn't idempotent only
    /// if the server can't have acted on it; see `RetryPolicy`.
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

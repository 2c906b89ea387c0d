/// A request to the service of a client, as a value: path, method, query, body, headers, and the credential that it needs.
/// (A type that conforms to ``Route``, in contrast, is a kind of request of its own, and can name one of several services.)
///
/// ```swift
/// enum SportsAPI {
///     static func all() -> Endpoint<[Sport]> { .get("/sports", auth: .bearerToken) }
///     static func remove(_ id: String) -> Endpoint<EmptyResponse> { .delete("/riders/me/sports/\(id)", auth: .bearerToken) }
/// }
/// let sports = try await client.send(SportsAPI.all())
/// ```
///
/// Any ``NetworkProvider`` with a ``DefaultDomain`` sends it.
public struct Endpoint<Response: Decodable & Sendable>: Route {
    /// The path below the service's, percent-encoded; see ``EndpointPath``.
    public var path: String { location.text }
    public let method: HTTPMethod
    /// Parameters sent in the query, in this order.
    public let query: ParameterList
    /// The body.
    public let body: RequestBody
    public let headers: [String: String]?
    /// The credential that the request needs.
    public let auth: AuthRequirement

    let location: EndpointPath

    /// Creates an endpoint with any method.
    ///
    /// - Parameters:
    ///   - method: the method. It decides whether a failed request may be retried (RFC 9110 §9.2.2).
    ///   - path: the path below the service's. A literal is sent unchanged, an interpolated value is percent-encoded.
    ///   - query: parameters for the query. A literal keeps its order.
    ///   - body: the body.
    ///   - headers: header lines, sorted by name. A Content-Type replaces the body's.
    ///   - auth: the credential that the request needs; by default none.
    public init(
        _ method: HTTPMethod, _ path: EndpointPath, query: ParameterList = [:], body: RequestBody = .none,
        headers: [String: String]? = nil, auth: AuthRequirement = .none
    ) {
        self.method = method
        location = path
        self.query = query
        self.body = body
        self.headers = headers
        self.auth = auth
    }
}

extension Endpoint {
    public var domain: DefaultDomain { .default }
    public var endpoint: String { path }
    public var endpointTemplate: String? { location.template }
    public var queryList: ParameterList { query }

    public func body(using encoder: any BodyEncoder) throws -> RouteBody? {
        guard location.isComplete else {
            throw InvalidRequestError(.url(path), "a value interpolated in the endpoint's path is empty")
        }
        switch body {
        case .none: return nil
        case .json(let value): return RouteBody(.bytes(try encoder.body(of: value)), contentType: encoder.contentType)
        case .raw(let bytes): return RouteBody(.bytes(bytes), contentType: "application/octet-stream")
        case .multipart(let data):
            let form = try MultipartFormDataBuilder(parts: data.parts).build()
            return RouteBody(form.body, contentType: form.contentType)
        }
    }
}

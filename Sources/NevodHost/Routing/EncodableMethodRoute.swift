/// An ``EncodableRoute`` without a type of its own, to be used by the name that says its method: ``EncodablePostRoute``,
/// ``EncodablePutRoute``, ``EncodablePatchRoute``.
public struct EncodableMethodRoute<
    Body: Encodable & Sendable, Response: Decodable, Domain: ServiceDomain, Method: RouteMethod
>: EncodableRoute {

    public var domain: Domain
    public var endpoint: String
    public var queryParameters: [String: String]?
    public var body: Body?
    public var bodyEncoder: (any BodyEncoder)?
    public var headers: [String: String]?

    public var method: HTTPMethod { Method.method }

    /// - Parameters:
    ///   - endpoint: the path below the service's; see ``Route/endpoint``.
    ///   - domain: the service that the request goes to.
    ///   - queryParameters: in the query, sorted by name.
    ///   - body: nil: none is sent.
    ///   - encoder: nil: the configuration's.
    ///   - headers: lines of this request, sorted by name.
    public init(
        endpoint: String, domain: Domain, queryParameters: [String: String]? = nil, body: Body? = nil,
        encoder: (any BodyEncoder)? = nil, headers: [String: String]? = nil
    ) {
        self.endpoint = endpoint
        self.domain = domain
        self.queryParameters = queryParameters
        self.body = body
        bodyEncoder = encoder
        self.headers = headers
    }
}

/// POST with any value as its body.
public typealias EncodablePostRoute<Body: Encodable & Sendable, Response: Decodable, Domain: ServiceDomain> =
    EncodableMethodRoute<Body, Response, Domain, RouteMethods.Post>
/// PUT with any value as its body.
public typealias EncodablePutRoute<Body: Encodable & Sendable, Response: Decodable, Domain: ServiceDomain> =
    EncodableMethodRoute<Body, Response, Domain, RouteMethods.Put>
/// PATCH (RFC 5789) with any value as its body.
public typealias EncodablePatchRoute<Body: Encodable & Sendable, Response: Decodable, Domain: ServiceDomain> =
    EncodableMethodRoute<Body, Response, Domain, RouteMethods.Patch>

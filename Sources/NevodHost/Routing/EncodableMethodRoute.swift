/// A ready-made ``EncodableRoute``, used under a name for its method: ``EncodablePostRoute``, ``EncodablePutRoute``,
/// ``EncodablePatchRoute``.
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

    /// Creates a route.
    ///
    /// - Parameters:
    ///   - endpoint: the path below the service's; see ``Route/endpoint``.
    ///   - domain: the service that the request goes to.
    ///   - queryParameters: parameters sent in the query, sorted by name.
    ///   - body: the value to encode; nil for no body.
    ///   - encoder: the encoder of the body; nil for the configuration's.
    ///   - headers: header lines, sorted by name.
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

/// POST with an encoded value as its body.
public typealias EncodablePostRoute<Body: Encodable & Sendable, Response: Decodable, Domain: ServiceDomain> =
    EncodableMethodRoute<Body, Response, Domain, RouteMethods.Post>
/// PUT with an encoded value as its body.
public typealias EncodablePutRoute<Body: Encodable & Sendable, Response: Decodable, Domain: ServiceDomain> =
    EncodableMethodRoute<Body, Response, Domain, RouteMethods.Put>
/// PATCH (RFC 5789) with an encoded value as its body.
public typealias EncodablePatchRoute<Body: Encodable & Sendable, Response: Decodable, Domain: ServiceDomain> =
    EncodableMethodRoute<Body, Response, Domain, RouteMethods.Patch>

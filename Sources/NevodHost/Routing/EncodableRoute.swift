/// A route with an `Encodable` value as its body.
public protocol EncodableRoute: Route {
    /// The type of the body.
    associatedtype Body: Encodable
    /// The type of the encoder: a ``BodyEncoder`` such as Foundation's `JSONEncoder`, or an optional one.
    associatedtype Encoder = (any BodyEncoder)?

    /// The value to encode; nil for no body.
    var body: Body? { get }

    /// The encoder of the body; nil for the configuration's.
    var bodyEncoder: Encoder { get }
}

extension EncodableRoute {
    public func body(using encoder: any BodyEncoder) throws -> RouteBody? {
        guard let body else { return nil }
        let encoder = bodyEncoder as? any BodyEncoder ?? encoder
        return RouteBody(.bytes(try encoder.body(of: body)), contentType: encoder.contentType)
    }
}

extension EncodableRoute where Encoder == (any BodyEncoder)? {
    public var bodyEncoder: (any BodyEncoder)? { nil }
}

/// A ready-made ``EncodableRoute``. Use it through the alias for its method: ``EncodablePostRoute``, ``EncodablePutRoute``,
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
    ///   - endpoint: the path below the service's base URL; see ``Route/endpoint``.
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

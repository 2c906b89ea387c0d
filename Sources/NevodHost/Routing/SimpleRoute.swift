/// A ready-made route. Use it through the alias for its method: ``SimpleGetRoute``, ``SimplePostRoute``, ``SimplePutRoute``,
/// ``SimplePatchRoute``, ``SimpleDeleteRoute``.
///
/// ```swift
/// let route = SimpleGetRoute<User, Service>(endpoint: "/users/me", domain: .api)
/// ```
public struct SimpleRoute<Response: Decodable, Domain: ServiceDomain, Method: RouteMethod>: Route {

    public var domain: Domain
    public var endpoint: String
    public var queryList: ParameterList
    public var parameterList: ParameterList
    public var parameterEncoding: ParameterEncoding
    public var headers: [String: String]?

    public var method: HTTPMethod { Method.method }

    /// Creates a route.
    ///
    /// - Parameters:
    ///   - endpoint: the path below the service's base URL; see ``Route/endpoint``.
    ///   - domain: the service that the request goes to.
    ///   - queryParameters: parameters sent in the query, sorted by name.
    ///   - parameters: parameters sent as the encoding says, sorted by name.
    ///   - parameterEncoding: the encoding of `parameters`; if nil, the query for GET, and JSON for other methods.
    ///   - headers: header lines, sorted by name.
    public init(
        endpoint: String, domain: Domain, queryParameters: [String: String]? = nil, parameters: [String: String]? = nil,
        parameterEncoding: ParameterEncoding? = nil, headers: [String: String]? = nil
    ) {
        self.init(
            endpoint: endpoint, domain: domain, queryList: ParameterList(queryParameters ?? [:]),
            parameterList: ParameterList(parameters ?? [:]), parameterEncoding: parameterEncoding, headers: headers)
    }

    /// Creates a route with parameters that keep their order.
    public init(
        endpoint: String, domain: Domain, queryList: ParameterList = ParameterList(), parameterList: ParameterList,
        parameterEncoding: ParameterEncoding? = nil, headers: [String: String]? = nil
    ) {
        self.endpoint = endpoint
        self.domain = domain
        self.queryList = queryList
        self.parameterList = parameterList
        self.parameterEncoding = parameterEncoding ?? (Method.method == .get ? .query : .json)
        self.headers = headers
    }

    /// Creates a route with a JSON body.
    ///
    /// - Parameters:
    ///   - endpoint: the path below the service's base URL; see ``Route/endpoint``.
    ///   - domain: the service that the request goes to.
    ///   - queryParameters: parameters sent in the query, sorted by name.
    ///   - bodyParameters: parameters sent in the body as JSON, sorted by name.
    ///   - headers: header lines, sorted by name.
    public init(
        endpoint: String, domain: Domain, queryParameters: [String: String]? = nil, bodyParameters: [String: String]?,
        headers: [String: String]? = nil
    ) {
        self.init(
            endpoint: endpoint, domain: domain, queryParameters: queryParameters, parameters: bodyParameters,
            parameterEncoding: .json, headers: headers)
    }
}

/// GET, with parameters in the query.
public typealias SimpleGetRoute<Response: Decodable, Domain: ServiceDomain> = SimpleRoute<Response, Domain, RouteMethods.Get>
/// POST, with parameters in the body.
public typealias SimplePostRoute<Response: Decodable, Domain: ServiceDomain> = SimpleRoute<Response, Domain, RouteMethods.Post>
/// PUT, with parameters in the body.
public typealias SimplePutRoute<Response: Decodable, Domain: ServiceDomain> = SimpleRoute<Response, Domain, RouteMethods.Put>
/// PATCH (RFC 5789), with parameters in the body.
public typealias SimplePatchRoute<Response: Decodable, Domain: ServiceDomain> = SimpleRoute<
    Response, Domain, RouteMethods.Patch
>
/// DELETE. Parameters, if any, are sent in the body, where RFC 9110 §9.3.5 defines no meaning for them.
public typealias SimpleDeleteRoute<Response: Decodable, Domain: ServiceDomain> = SimpleRoute<
    Response, Domain, RouteMethods.Delete
>

/// A request method as a type, so that one generic route can have a name for each method.
public protocol RouteMethod: Sendable {
    /// The method.
    static var method: HTTPMethod { get }
}

/// The methods of the ready-made routes.
public enum RouteMethods {
    /// GET (RFC 9110 §9.3.1).
    public enum Get: RouteMethod {
        public static var method: HTTPMethod { .get }
    }

    /// POST (RFC 9110 §9.3.3).
    public enum Post: RouteMethod {
        public static var method: HTTPMethod { .post }
    }

    /// PUT (RFC 9110 §9.3.4).
    public enum Put: RouteMethod {
        public static var method: HTTPMethod { .put }
    }

    /// PATCH (RFC 5789).
    public enum Patch: RouteMethod {
        public static var method: HTTPMethod { .patch }
    }

    /// DELETE (RFC 9110 §9.3.5).
    public enum Delete: RouteMethod {
        public static var method: HTTPMethod { .delete }
    }
}

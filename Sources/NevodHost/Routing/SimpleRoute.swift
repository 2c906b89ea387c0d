/// A route without a type of its own, to be used by the name that says its method: ``SimpleGetRoute``, ``SimplePostRoute``,
/// ``SimplePutRoute``, ``SimplePatchRoute``, ``SimpleDeleteRoute``.
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

    /// - Parameters:
    ///   - endpoint: the path below the service's; see ``Route/endpoint``.
    ///   - domain: the service that the request goes to.
    ///   - queryParameters: in the query.
    ///   - parameters: in the query or the body, as the encoding says.
    ///   - parameterEncoding: nil: the query for GET, otherwise JSON.
    ///   - headers: lines of this request, sorted by name.
    public init(
        endpoint: String, domain: Domain, queryParameters: [String: String]? = nil, parameters: [String: String]? = nil,
        parameterEncoding: ParameterEncoding? = nil, headers: [String: String]? = nil
    ) {
        self.init(
            endpoint: endpoint, domain: domain, queryList: ParameterList(queryParameters ?? [:]),
            parameterList: ParameterList(parameters ?? [:]), parameterEncoding: parameterEncoding, headers: headers)
    }

    /// The same in an order of your own.
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

    /// - Parameters:
    ///   - endpoint: the path below the service's; see ``Route/endpoint``.
    ///   - domain: the service that the request goes to.
    ///   - queryParameters: in the query, sorted by name.
    ///   - bodyParameters: in the body, as JSON.
    ///   - headers: lines of this request, sorted by name.
    public init(
        endpoint: String, domain: Domain, queryParameters: [String: String]? = nil, bodyParameters: [String: String]?,
        headers: [String: String]? = nil
    ) {
        self.init(
            endpoint: endpoint, domain: domain, queryParameters: queryParameters, parameters: bodyParameters,
            parameterEncoding: .json, headers: headers)
    }
}

/// GET; parameters go in the query.
public typealias SimpleGetRoute<Response: Decodable, Domain: ServiceDomain> = SimpleRoute<Response, Domain, RouteMethods.Get>
/// POST; parameters go in the body.
public typealias SimplePostRoute<Response: Decodable, Domain: ServiceDomain> = SimpleRoute<Response, Domain, RouteMethods.Post>
/// PUT; parameters go in the body.
public typealias SimplePutRoute<Response: Decodable, Domain: ServiceDomain> = SimpleRoute<Response, Domain, RouteMethods.Put>
/// PATCH (RFC 5789); parameters go in the body.
public typealias SimplePatchRoute<Response: Decodable, Domain: ServiceDomain> = SimpleRoute<
    Response, Domain, RouteMethods.Patch
>
/// DELETE; parameters, if there are any, go in the body, where RFC 9110 §9.3.5 gives them no meaning.
public typealias SimpleDeleteRoute<Response: Decodable, Domain: ServiceDomain> = SimpleRoute<
    Response, Domain, RouteMethods.Delete
>

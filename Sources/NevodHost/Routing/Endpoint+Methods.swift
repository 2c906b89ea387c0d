/// The endpoints of each method. Parameters are those of ``Endpoint/init(_:_:query:body:headers:auth:)``.
extension Endpoint {
    /// Creates an endpoint with GET (RFC 9110 §9.3.1).
    public static func get(
        _ path: EndpointPath, query: ParameterList = [:], headers: [String: String]? = nil, auth: AuthRequirement = .none
    ) -> Endpoint {
        Endpoint(.get, path, query: query, headers: headers, auth: auth)
    }

    /// Creates an endpoint with POST (RFC 9110 §9.3.3).
    public static func post(
        _ path: EndpointPath, query: ParameterList = [:], body: RequestBody = .none, headers: [String: String]? = nil,
        auth: AuthRequirement = .none
    ) -> Endpoint {
        Endpoint(.post, path, query: query, body: body, headers: headers, auth: auth)
    }

    /// Creates an endpoint with POST (RFC 9110 §9.3.3) whose body is an encoded value.
    public static func post(
        _ path: EndpointPath, query: ParameterList = [:], body: some Encodable & Sendable, headers: [String: String]? = nil,
        auth: AuthRequirement = .none
    ) -> Endpoint {
        Endpoint(.post, path, query: query, body: .json(body), headers: headers, auth: auth)
    }

    /// Creates an endpoint with PUT (RFC 9110 §9.3.4).
    public static func put(
        _ path: EndpointPath, query: ParameterList = [:], body: RequestBody = .none, headers: [String: String]? = nil,
        auth: AuthRequirement = .none
    ) -> Endpoint {
        Endpoint(.put, path, query: query, body: body, headers: headers, auth: auth)
    }

    /// Creates an endpoint with PUT (RFC 9110 §9.3.4) whose body is an encoded value.
    public static func put(
        _ path: EndpointPath, query: ParameterList = [:], body: some Encodable & Sendable, headers: [String: String]? = nil,
        auth: AuthRequirement = .none
    ) -> Endpoint {
        Endpoint(.put, path, query: query, body: .json(body), headers: headers, auth: auth)
    }

    /// Creates an endpoint with PATCH (RFC 5789).
    public static func patch(
        _ path: EndpointPath, query: ParameterList = [:], body: RequestBody = .none, headers: [String: String]? = nil,
        auth: AuthRequirement = .none
    ) -> Endpoint {
        Endpoint(.patch, path, query: query, body: body, headers: headers, auth: auth)
    }

    /// Creates an endpoint with PATCH (RFC 5789) whose body is an encoded value.
    public static func patch(
        _ path: EndpointPath, query: ParameterList = [:], body: some Encodable & Sendable, headers: [String: String]? = nil,
        auth: AuthRequirement = .none
    ) -> Endpoint {
        Endpoint(.patch, path, query: query, body: .json(body), headers: headers, auth: auth)
    }

    /// Creates an endpoint with DELETE (RFC 9110 §9.3.5).
    public static func delete(
        _ path: EndpointPath, query: ParameterList = [:], body: RequestBody = .none, headers: [String: String]? = nil,
        auth: AuthRequirement = .none
    ) -> Endpoint {
        Endpoint(.delete, path, query: query, body: body, headers: headers, auth: auth)
    }

    /// Creates an endpoint that uploads a form.
    ///
    /// - Parameters:
    ///   - path: the path below the service's.
    ///   - multipart: the form.
    ///   - method: the method.
    ///   - query: parameters for the query.
    ///   - headers: header lines, sorted by name.
    ///   - auth: the credential that the request needs; by default none.
    public static func uploadMultipart(
        _ path: EndpointPath, multipart: MultipartFormData, method: HTTPMethod = .post, query: ParameterList = [:],
        headers: [String: String]? = nil, auth: AuthRequirement = .none
    ) -> Endpoint {
        Endpoint(method, path, query: query, body: .multipart(multipart), headers: headers, auth: auth)
    }
}

/// A request to a client's service, as a value: path, method, query, body, headers, and the credential that it needs. (A type
/// that conforms to ``Route``, in contrast, defines its own kind of request, and can name one of several services.)
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
    /// The path below the service's base URL, percent-encoded; see ``EndpointPath``.
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
    ///   - path: the path below the service's base URL. A literal is sent unchanged; an interpolated value is percent-encoded.
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

/// The body of an ``Endpoint``.
public enum RequestBody: Sendable {
    /// No body.
    case none
    /// A value, encoded by the encoder of the client's configuration: usually JSON.
    case json(any Encodable & Sendable)
    /// Bytes, sent unchanged. Their media type is `application/octet-stream` unless the endpoint's headers have a Content-Type.
    case raw([UInt8])
    /// A form with several parts, which can be files.
    case multipart(MultipartFormData)

    /// Bytes of another type, such as Foundation's `Data`.
    @_disfavoredOverload
    public static func raw(_ bytes: some Sequence<UInt8>) -> RequestBody {
        .raw(Array(bytes))
    }
}

/// Endpoints for each method. ``Endpoint/init(_:_:query:body:headers:auth:)`` describes the parameters.
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

    /// Creates an endpoint with POST (RFC 9110 §9.3.3), and an encoded value as its body.
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

    /// Creates an endpoint with PUT (RFC 9110 §9.3.4), and an encoded value as its body.
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

    /// Creates an endpoint with PATCH (RFC 5789), and an encoded value as its body.
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
    ///   - path: the path below the service's base URL.
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

/// Changed copies of an endpoint:
///
/// ```swift
/// let order = Endpoint<Receipt>.post("/orders").body(order).header("Idempotency-Key", key).auth(.bearerToken)
/// ```
extension Endpoint {
    /// Returns the endpoint with another body: a value, encoded by the encoder of the client's configuration.
    public func body(_ value: some Encodable & Sendable) -> Endpoint {
        body(.json(value))
    }

    /// Returns the endpoint with another body.
    public func body(_ body: RequestBody) -> Endpoint {
        Endpoint(method, location, query: query, body: body, headers: headers, auth: auth)
    }

    /// Returns the endpoint with a header line, which replaces all lines with this name, in upper or lower case (RFC 9110 §5.1).
    ///
    /// - Parameters:
    ///   - name: the name. An invalid name or value fails the request before it is sent.
    ///   - value: the value.
    public func header(_ name: String, _ value: String) -> Endpoint {
        let lowercased = name.lowercased()
        var headers = (headers ?? [:]).filter { $0.key.lowercased() != lowercased }
        headers[name] = value
        return Endpoint(method, location, query: query, body: body, headers: headers, auth: auth)
    }

    /// Returns the endpoint with more query parameters, after its own.
    public func query(_ parameters: ParameterList) -> Endpoint {
        let all = ParameterList(query.parameters + parameters.parameters)
        return Endpoint(method, location, query: all, body: body, headers: headers, auth: auth)
    }

    /// Returns the endpoint with one more query parameter, after its own.
    ///
    /// - Parameters:
    ///   - name: the name, not encoded.
    ///   - value: the value, not encoded.
    public func query(_ name: String, _ value: String) -> Endpoint {
        query(ParameterList([ParameterList.Parameter(name, value)]))
    }

    /// Returns the endpoint with another credential requirement.
    public func auth(_ requirement: AuthRequirement) -> Endpoint {
        Endpoint(method, location, query: query, body: body, headers: headers, auth: requirement)
    }
}

/// A kind of request to a service, and the type of its response.
///
/// ```swift
/// struct GetUserPosts: Route {
///     typealias Response = [Post]
///
///     let userID: Int
///     var domain: Service { .api }
///     var endpoint: String { "/users/\(userID)/posts" }
///     var method: HTTPMethod { .get }
///     var parameters: [String: String]? { ["limit": "10"] }
/// }
/// ```
public protocol Route: Sendable {
    /// The type of the decoded response. A `Decodable` type is decoded; an ``UndecodedBody`` takes the body without a decoder.
    associatedtype Response
    /// The type of the services that the route can be sent to.
    associatedtype Domain: ServiceDomain
    /// The type of bytes that ``decode(_:using:)`` takes.
    associatedtype Payload: RangeReplaceableCollection<UInt8> & Sendable = [UInt8]
    /// The type of decoder that ``decode(_:using:)`` takes, such as Foundation's `JSONDecoder`. The configuration's decoder must
    /// be of this type.
    associatedtype Decoder = any BodyDecoder

    /// The service that the request goes to. The configuration maps it to an environment.
    var domain: Domain { get }

    /// The path below the service's base URL, with or without a leading slash, and optionally a query. It is sent unchanged, so
    /// interpolated text must be percent-encoded. Paths that could lead outside the service are rejected: absolute URLs, `//`,
    /// and `..` in any encoding.
    var endpoint: String { get }

    /// The endpoint without its query and with placeholders for values, such as `/users/{}/posts`: a label that all requests of
    /// this kind share. It must not hold a value. If nil, as by default, the name of the route's type is used instead.
    var endpointTemplate: String? { get }

    /// The method. It decides where parameters are sent, and whether a failed request may be retried (RFC 9110 §9.2.2).
    var method: HTTPMethod { get }

    /// The parameters, sent as ``Route/parameterEncoding`` says, sorted by name.
    var parameters: [String: String]? { get }

    /// The encoding of the parameters. By default ``ParameterEncoding/query`` for GET, otherwise ``ParameterEncoding/json``.
    var parameterEncoding: ParameterEncoding { get }

    /// Parameters sent in the query for any method, sorted by name, before ``Route/parameters`` if those are sent there too.
    var queryParameters: [String: String]? { get }

    /// ``Route/parameters`` as a list. Implement it for a custom order, or to repeat a name.
    var parameterList: ParameterList { get }

    /// ``Route/queryParameters`` as a list. Implement it for a custom order, or to repeat a name.
    var queryList: ParameterList { get }

    /// Header lines, sorted by name. A Content-Type replaces the body's.
    var headers: [String: String]? { get }

    /// Parameters for the schemes that authorize the route, such as a `scope`. A name in ``RequestOptions/schemeParameters``
    /// replaces the route's values for that name.
    var schemeParameters: SchemeParameters { get }

    /// The credential that the route needs. By default ``AuthRequirement/automatic``: the interceptors decide. A login uses
    /// ``AuthRequirement/none``, so that it neither carries a token nor waits for one.
    ///
    /// The type isn't an `Optional`, where `.none` would mean nil.
    var auth: AuthRequirement { get }

    /// Returns the body; nil for none. By default, the parameters, if there are any and ``Route/parameterEncoding`` puts them in
    /// the body.
    ///
    /// - Parameter encoder: the configuration's encoder.
    func body(using encoder: any BodyEncoder) throws -> RouteBody?

    /// Decodes the response.
    ///
    /// - Parameters:
    ///   - data: the body of a response with status 200 … 299.
    ///   - decoder: the configuration's decoder.
    func decode(_ data: Payload, using decoder: Decoder) throws -> Response
}

extension Route {
    public var endpointTemplate: String? { nil }
    public var parameters: [String: String]? { nil }
    public var parameterEncoding: ParameterEncoding { method == .get ? .query : .json }
    public var queryParameters: [String: String]? { nil }
    public var parameterList: ParameterList { ParameterList(parameters ?? [:]) }
    public var queryList: ParameterList { ParameterList(queryParameters ?? [:]) }
    public var headers: [String: String]? { nil }
    public var schemeParameters: SchemeParameters { [:] }
    public var auth: AuthRequirement { .automatic }

    public func body(using encoder: any BodyEncoder) throws -> RouteBody? {
        guard !parameterList.isEmpty else { return nil }
        return switch parameterEncoding {
        case .json: RouteBody(.bytes(parameterList.json), contentType: "application/json")
        case .formURLEncoded: RouteBody(.bytes(parameterList.form), contentType: "application/x-www-form-urlencoded")
        case .query, .none: nil
        }
    }
}

extension Route where Response: Decodable {
    public func decode(_ data: [UInt8], using decoder: any BodyDecoder) throws -> Response {
        // In a generic route, Response is known only to be Decodable, and Data and String are Decodable too.
        if let type = Response.self as? any UndecodedBody.Type, let body = try type.init(undecodedBody: data) as? Response {
            return body
        }
        return try decoder.value(Response.self, in: data)
    }
}

extension Route where Response: UndecodedBody {
    public func decode(_ data: [UInt8], using decoder: any BodyDecoder) throws -> Response {
        try Response(undecodedBody: data)
    }
}

extension Route where Response: Decodable & UndecodedBody {
    public func decode(_ data: [UInt8], using decoder: any BodyDecoder) throws -> Response {
        try Response(undecodedBody: data)
    }
}

/// The body of a route's request, with its media type.
public struct RouteBody: Sendable {
    /// The body.
    public var content: HTTPBody
    /// The media type (RFC 9110 §8.3.1); if nil, no Content-Type is sent.
    public var contentType: String?

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - content: the body.
    ///   - contentType: the media type; if nil, no Content-Type is sent. A Content-Type among the route's headers replaces it.
    public init(_ content: HTTPBody, contentType: String?) {
        self.content = content
        self.contentType = contentType
    }
}

/// A response without a body that matters, such as 204 (RFC 9110 §15.3.5). A body is ignored.
public struct EmptyResponse: UndecodedBody, Decodable, Sendable, Hashable {
    /// Creates a value, for tests and custom transports.
    public init() {}

    public init(undecodedBody body: [UInt8]) {}
}

extension RequestFilter {
    /// Selects requests made from a route of any of these types.
    public static func routes(_ types: any Route.Type...) -> RequestFilter {
        .route { route in types.contains { route.hasType($0) } }
    }
}

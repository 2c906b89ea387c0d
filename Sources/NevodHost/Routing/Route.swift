/// A request to a service: what is sent, and what its answer is.
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
    /// What the answer is turned into. Decoded, if it is `Decodable`; taken as it is, if it is an ``UndecodedBody``.
    associatedtype Response
    /// The services of the program that the route can go to.
    associatedtype Domain: ServiceDomain
    /// The type of bytes that ``decode(_:using:)`` is written against.
    associatedtype Payload: RangeReplaceableCollection<UInt8> & Sendable = [UInt8]
    /// The decoder that ``decode(_:using:)`` is written against, Foundation's `JSONDecoder` for instance. The configuration's
    /// must be one.
    associatedtype Decoder = any BodyDecoder

    /// The service. The configuration says where it is.
    var domain: Domain { get }

    /// The path below the service's, with or without a slash at its beginning, and a query if need be. It goes out as it is;
    /// what interpolation puts into it has to be percent-encoded. A path that could lead elsewhere is refused: an absolute
    /// URL, `//`, `..` in any spelling.
    var endpoint: String { get }

    /// Decides where parameters go, and whether a failed request may be repeated (RFC 9110 §9.2.2).
    var method: HTTPMethod { get }

    /// Sent as ``parameterEncoding`` says, sorted by name.
    var parameters: [String: String]? { get }

    /// The default: ``ParameterEncoding/query`` for GET, otherwise ``ParameterEncoding/json``.
    var parameterEncoding: ParameterEncoding { get }

    /// Sent in the query, sorted by name, whatever the method; before ``Route/parameters``, if these go there too.
    var queryParameters: [String: String]? { get }

    /// ``Route/parameters`` in the order of the wire; for an order of your own, or a name that stands there twice.
    var parameterList: ParameterList { get }

    /// ``Route/queryParameters`` in the order of the wire.
    var queryList: ParameterList { get }

    /// Header lines of this route, sorted by name. A Content-Type among them replaces the body's own.
    var headers: [String: String]? { get }

    /// The body; nil for none. The default: the parameters, if their encoding puts them there. An empty list is no body.
    ///
    /// - Parameter encoder: the configuration's.
    func body(using encoder: any BodyEncoder) throws -> RouteBody?

    /// - Parameters:
    ///   - data: the body of an answer of status 200 … 299.
    ///   - decoder: the configuration's.
    func decode(_ data: Payload, using decoder: Decoder) throws -> Response
}

extension Route {
    public var parameters: [String: String]? { nil }
    public var parameterEncoding: ParameterEncoding { method == .get ? .query : .json }
    public var queryParameters: [String: String]? { nil }
    public var parameterList: ParameterList { ParameterList(parameters ?? [:]) }
    public var queryList: ParameterList { ParameterList(queryParameters ?? [:]) }
    public var headers: [String: String]? { nil }

    public func body(using encoder: any BodyEncoder) throws -> RouteBody? {
        guard !parameterList.isEmpty else { return nil }
        return switch parameterEncoding {
        case .json: RouteBody(.bytes(parameterList.json), contentType: "application/json")
        case .form: RouteBody(.bytes(parameterList.form), contentType: "application/x-www-form-urlencoded")
        case .query, .none: nil
        }
    }
}

extension Route where Response: Decodable {
    public func decode(_ data: [UInt8], using decoder: any BodyDecoder) throws -> Response {
        // A generic route knows of its Response only that it is Decodable, which Data and String are too.
        if let type = Response.self as? any UndecodedBody.Type, let body = try type.init(undecodedBody: data) as? Response {
            return body
        }
        return try decoder.decode(Response.self, from: data)
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

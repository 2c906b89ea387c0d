extension NetworkProvider {
    /// A provider with one service, for requests without a route.
    ///
    /// ```swift
    /// let provider = NetworkProvider.quick(baseURL: "https://api.example.com")
    /// let users: [User] = try await provider.get("/users", query: ["page": "1"])
    /// ```
    ///
    /// Without coders; `NevodHostFoundation` has one of the same spelling that sets them, and where both can be meant, that one
    /// is.
    @_disfavoredOverload
    public static func quick(
        baseURL: some URLRepresentation, timeout: Duration? = .seconds(30), session: any HTTPTransport = CurlSession(),
        interceptor: any RequestInterceptor = InterceptorChain([]), logger: (any NetworkLogger)? = nil
    ) -> NetworkProvider {
        NetworkProvider(
            config: NetworkConfig(environments: [DefaultDomain.default: SimpleEnvironment(baseURL: baseURL)], timeout: timeout),
            session: session, interceptor: interceptor, logger: logger)
    }

    /// Any request to the ``DefaultDomain``. Decoded as a route's answer is; a request without an interesting answer asks for an
    /// ``EmptyResponse``.
    ///
    /// - Parameters:
    ///   - method: any; it decides whether a failed request may be repeated (RFC 9110 §9.2.2).
    ///   - path: as a route's endpoint.
    ///   - query: sorted by name.
    ///   - body: a JSON object, sorted by name; nil or empty: none.
    ///   - headers: lines of this request, sorted by name.
    /// - Throws: ``NetworkError``, nothing else.
    public func request<Response: Decodable>(
        _ method: HTTPMethod, path: String, query: [String: String]? = nil, body: [String: String]? = nil,
        headers: [String: String]? = nil
    ) async throws -> Response {
        try await perform(
            QuickRoute<Response>(
                endpoint: path, method: method, queryParameters: query, headers: headers, content: .parameters(body ?? [:])))
    }

    /// The same with any value, written by the configuration's encoder.
    public func request<Response: Decodable>(
        _ method: HTTPMethod, path: String, query: [String: String]? = nil, body: some Encodable & Sendable,
        headers: [String: String]? = nil
    ) async throws -> Response {
        try await perform(
            QuickRoute<Response>(endpoint: path, method: method, queryParameters: query, headers: headers, content: .value(body)))
    }

    /// GET. The `request` that takes a dictionary says what holds for all of these.
    public func get<Response: Decodable>(_ endpoint: String, query: [String: String]? = nil) async throws -> Response {
        try await request(.get, path: endpoint, query: query)
    }

    /// POST with a JSON object, sorted by name.
    public func post<Response: Decodable>(
        _ endpoint: String, query: [String: String]? = nil, body: [String: String]? = nil
    ) async throws -> Response {
        try await request(.post, path: endpoint, query: query, body: body)
    }

    /// POST with any value.
    public func post<Response: Decodable>(
        _ endpoint: String, query: [String: String]? = nil, body: some Encodable & Sendable
    ) async throws -> Response {
        try await request(.post, path: endpoint, query: query, body: body)
    }

    /// PUT with a JSON object, sorted by name.
    public func put<Response: Decodable>(
        _ endpoint: String, query: [String: String]? = nil, body: [String: String]? = nil
    ) async throws -> Response {
        try await request(.put, path: endpoint, query: query, body: body)
    }

    /// PUT with any value.
    public func put<Response: Decodable>(
        _ endpoint: String, query: [String: String]? = nil, body: some Encodable & Sendable
    ) async throws -> Response {
        try await request(.put, path: endpoint, query: query, body: body)
    }

    /// PATCH (RFC 5789) with a JSON object, sorted by name.
    public func patch<Response: Decodable>(
        _ endpoint: String, query: [String: String]? = nil, body: [String: String]? = nil
    ) async throws -> Response {
        try await request(.patch, path: endpoint, query: query, body: body)
    }

    /// PATCH (RFC 5789) with any value.
    public func patch<Response: Decodable>(
        _ endpoint: String, query: [String: String]? = nil, body: some Encodable & Sendable
    ) async throws -> Response {
        try await request(.patch, path: endpoint, query: query, body: body)
    }

    /// DELETE, without a body.
    public func delete<Response: Decodable>(_ endpoint: String, query: [String: String]? = nil) async throws -> Response {
        try await request(.delete, path: endpoint, query: query)
    }
}

extension NetworkProvider {
    /// One file, and fields before it, sorted by name, as `multipart/form-data`.
    public func upload<Response: Decodable>(
        _ endpoint: String, fieldName: String = "file", filename: String, fileData: some Sequence<UInt8>, mimeType: String,
        additionalFields: [String: String] = [:]
    ) async throws -> Response {
        try await perform(
            MultipartRoute<Response, DefaultDomain>.uploadFile(
                endpoint: endpoint, domain: .default, fieldName: fieldName, filename: filename, fileData: fileData,
                mimeType: mimeType, additionalFields: additionalFields))
    }

    /// The same with a file that is read from the disk while it is sent.
    ///
    /// - Parameters:
    ///   - endpoint: the path below the base URL's.
    ///   - fieldName: the name of the file's part.
    ///   - path: of the file, absolute or from the working directory.
    ///   - filename: what the server is told; nil: the last part of the path.
    ///   - mimeType: the file's media type (RFC 9110 §8.3.1).
    ///   - additionalFields: parts with text before the file's, sorted by name.
    ///   - progress: told how much of the body has been sent.
    public func upload<Response: Decodable>(
        _ endpoint: String, fieldName: String = "file", path: String, filename: String? = nil,
        mimeType: String = "application/octet-stream", additionalFields: [String: String] = [:],
        progress: ProgressHandler? = nil
    ) async throws -> Response {
        try await perform(
            MultipartRoute<Response, DefaultDomain>.uploadFile(
                endpoint: endpoint, domain: .default, fieldName: fieldName, path: path, filename: filename, mimeType: mimeType,
                additionalFields: additionalFields),
            uploadProgress: progress)
    }

    /// One image, and fields before it, sorted by name, as `multipart/form-data`.
    public func uploadImage<Response: Decodable>(
        _ endpoint: String, fieldName: String = "image", filename: String, imageData: some Sequence<UInt8>,
        imageType: FormDataPart.ImageType, additionalFields: [String: String] = [:]
    ) async throws -> Response {
        try await perform(
            MultipartRoute<Response, DefaultDomain>.uploadImage(
                endpoint: endpoint, domain: .default, fieldName: fieldName, filename: filename, imageData: imageData,
                imageType: imageType, additionalFields: additionalFields))
    }
}

/// The route behind requests that have none.
private struct QuickRoute<Response: Decodable>: Route {
    enum Content {
        case parameters([String: String])
        case value(any Encodable & Sendable)
    }

    let endpoint: String
    let method: HTTPMethod
    let queryParameters: [String: String]?
    let headers: [String: String]?
    let content: Content

    var domain: DefaultDomain { .default }

    func body(using encoder: any BodyEncoder) throws -> RouteBody? {
        switch content {
        case .parameters(let parameters) where parameters.isEmpty: nil
        case .parameters(let parameters): RouteBody(.bytes(ParameterList(parameters).json), contentType: "application/json")
        case .value(let value): RouteBody(.bytes(try encoder.encode(value)), contentType: encoder.contentType)
        }
    }
}

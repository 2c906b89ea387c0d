extension NetworkProvider {
    /// Creates a provider with one service, for requests without a route.
    ///
    /// ```swift
    /// let provider = NetworkProvider.quick(baseURL: "https://api.example.com")
    /// let users: [User] = try await provider.get("/users", query: ["page": "1"])
    /// ```
    ///
    /// The provider has no coders. `NevodHostFoundation` has a method with the same spelling that sets them; it takes precedence
    /// where both match.
    @_disfavoredOverload
    public static func quick(
        baseURL: some URLRepresentation, timeout: Duration? = .seconds(30), session: any HTTPTransport = CurlSession(),
        interceptor: any RequestInterceptor = InterceptorChain([]), logger: (any NetworkLogger)? = nil
    ) -> NetworkProvider {
        NetworkProvider(
            config: NetworkConfig(environments: [DefaultDomain.default: SimpleEnvironment(baseURL: baseURL)], timeout: timeout),
            session: session, interceptor: interceptor, logger: logger)
    }

    /// Sends a request to the ``DefaultDomain``, and decodes the response like a route's. Use ``EmptyResponse`` if the response's
    /// body doesn't matter.
    ///
    /// - Parameters:
    ///   - method: the method. It decides whether a failed request may be retried (RFC 9110 §9.2.2).
    ///   - path: the path below the base URL; see ``Route/endpoint``.
    ///   - query: query parameters, sorted by name.
    ///   - body: a JSON object, sorted by name; nil or empty for no body.
    ///   - headers: header lines, sorted by name.
    /// - Throws: always a ``NetworkError``.
    public func request<Response: Decodable>(
        _ method: HTTPMethod, path: String, query: [String: String]? = nil, body: [String: String]? = nil,
        headers: [String: String]? = nil
    ) async throws -> Response {
        try await perform(
            QuickRoute<Response>(
                endpoint: path, method: method, queryParameters: query, headers: headers, content: .parameters(body ?? [:])))
    }

    /// Sends a request with a value as its body, encoded by the configuration's encoder.
    public func request<Response: Decodable>(
        _ method: HTTPMethod, path: String, query: [String: String]? = nil, body: some Encodable & Sendable,
        headers: [String: String]? = nil
    ) async throws -> Response {
        try await perform(
            QuickRoute<Response>(endpoint: path, method: method, queryParameters: query, headers: headers, content: .value(body)))
    }

    /// Sends a GET request. The `request` method that takes a dictionary describes parameters, decoding and errors.
    public func get<Response: Decodable>(_ endpoint: String, query: [String: String]? = nil) async throws -> Response {
        try await request(.get, path: endpoint, query: query)
    }

    /// Sends a POST request with a JSON object, sorted by name.
    public func post<Response: Decodable>(
        _ endpoint: String, query: [String: String]? = nil, body: [String: String]? = nil
    ) async throws -> Response {
        try await request(.post, path: endpoint, query: query, body: body)
    }

    /// Sends a POST request with an encoded value.
    public func post<Response: Decodable>(
        _ endpoint: String, query: [String: String]? = nil, body: some Encodable & Sendable
    ) async throws -> Response {
        try await request(.post, path: endpoint, query: query, body: body)
    }

    /// Sends a PUT request with a JSON object, sorted by name.
    public func put<Response: Decodable>(
        _ endpoint: String, query: [String: String]? = nil, body: [String: String]? = nil
    ) async throws -> Response {
        try await request(.put, path: endpoint, query: query, body: body)
    }

    /// Sends a PUT request with an encoded value.
    public func put<Response: Decodable>(
        _ endpoint: String, query: [String: String]? = nil, body: some Encodable & Sendable
    ) async throws -> Response {
        try await request(.put, path: endpoint, query: query, body: body)
    }

    /// Sends a PATCH request (RFC 5789) with a JSON object, sorted by name.
    public func patch<Response: Decodable>(
        _ endpoint: String, query: [String: String]? = nil, body: [String: String]? = nil
    ) async throws -> Response {
        try await request(.patch, path: endpoint, query: query, body: body)
    }

    /// Sends a PATCH request (RFC 5789) with an encoded value.
    public func patch<Response: Decodable>(
        _ endpoint: String, query: [String: String]? = nil, body: some Encodable & Sendable
    ) async throws -> Response {
        try await request(.patch, path: endpoint, query: query, body: body)
    }

    /// Sends a DELETE request without a body.
    public func delete<Response: Decodable>(_ endpoint: String, query: [String: String]? = nil) async throws -> Response {
        try await request(.delete, path: endpoint, query: query)
    }
}

extension NetworkProvider {
    /// Uploads a file from memory as `multipart/form-data`, preceded by additional fields, sorted by name.
    public func upload<Response: Decodable>(
        _ endpoint: String, fieldName: String = "file", filename: String, fileData: some Sequence<UInt8>, mimeType: String,
        additionalFields: [String: String] = [:]
    ) async throws -> Response {
        try await perform(
            MultipartRoute<Response, DefaultDomain>.uploadFile(
                endpoint: endpoint, domain: .default, fieldName: fieldName, filename: filename, fileData: fileData,
                mimeType: mimeType, additionalFields: additionalFields))
    }

    /// Uploads a file as `multipart/form-data`, read from disk while it is sent.
    ///
    /// - Parameters:
    ///   - endpoint: the path below the base URL.
    ///   - fieldName: the name of the file's part.
    ///   - path: the path of the file, absolute or relative to the working directory.
    ///   - filename: the file name sent to the server; nil for the last component of the path.
    ///   - mimeType: the file's media type (RFC 9110 §8.3.1).
    ///   - additionalFields: text fields sent before the file, sorted by name.
    ///   - progress: receives the progress of the upload.
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

    /// Uploads an image from memory as `multipart/form-data`, preceded by additional fields, sorted by name.
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

/// The route of requests that are made without a route.
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
        case .value(let value): RouteBody(.bytes(try encoder.body(of: value)), contentType: encoder.contentType)
        }
    }
}

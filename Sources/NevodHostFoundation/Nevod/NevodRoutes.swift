public import Foundation
public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Route {
    /// The route's request, before any interceptor runs, or the error. A body that is read from a file is left out.
    @_disfavoredOverload  // If the context gives no type, the method that returns an `HTTPRequest` is chosen.
    public func makeRequest(with config: NetworkConfig) -> Result<URLRequest, NetworkError> {
        do throws(NetworkError) {
            let native: HTTPRequest = try makeRequest(with: config)
            var request = URLRequest(native)
            let timeout: TimeInterval = config.timeout
            if timeout.isFinite { request.timeoutInterval = timeout }
            return .success(request)
        } catch {
            return .failure(error)
        }
    }

    /// The parameters that are sent in the query; nil if there are none. Only for reading: to change them, implement
    /// `Route.queryList`.
    public var urlQueryItems: [URLQueryItem]? {
        let parameters = queryList.parameters + (parameterEncoding == .query ? parameterList.parameters : [])
        return parameters.isEmpty ? nil : parameters.map { URLQueryItem(name: $0.name, value: $0.value) }
    }

    /// The body, encoded by a `JSONEncoder`; nil if there is none, or if it isn't in memory. Only for reading: to change it,
    /// implement `Route.body(using:)`.
    public var bodyData: Data? { bodyData(using: JSONEncoder()) }

    /// The body; nil if there is none, if it can't be encoded, or if it isn't in memory. Only for reading: to change it,
    /// implement `Route.body(using:)`.
    public func bodyData(using encoder: JSONEncoder) -> Data? {
        guard case .bytes(let bytes) = (try? body(using: encoder))?.content else { return nil }
        return Data(bytes)
    }

    /// Encodes a value, for a route's own body.
    public func encodeBody(_ value: some Encodable, using encoder: JSONEncoder) throws -> Data {
        try encoder.encode(value)
    }
}

extension SimpleRoute {
    /// The parameters that are sent in the body; nil if there are none. If several have one name, the last counts.
    public var bodyParameters: [String: String]? {
        guard parameterEncoding != .query, !parameterList.isEmpty else { return nil }
        return Dictionary(parameterList.parameters.map { ($0.name, $0.value) }) { $1 }
    }
}

extension HTTPMethod {
    /// The same as `HTTPMethod.rawValue`.
    public var stringValue: String { rawValue }
}

extension MultipartRoute {
    /// Creates a route from parts, with a boundary of your own between them.
    public init(
        endpoint: String, domain: Domain, method: HTTPMethod = .post, queryParameters: [String: String]? = nil,
        parts: [FormDataPart], boundary: String, headers: [String: String]? = nil
    ) {
        self.init(
            endpoint: endpoint, domain: domain, method: method, queryParameters: queryParameters,
            formData: MultipartFormDataBuilder(boundary: boundary, parts: parts), headers: headers)
    }
}

extension MultipartFormDataBuilder {
    /// Returns the body and its Content-Type.
    ///
    /// - Throws: `InvalidRequestError` for a form that `MultipartFormDataBuilder.build()` rejects, and for a part that isn't in
    ///   memory.
    public func build() throws -> (data: Data, contentType: String) {
        let form: MultipartForm = try build()
        guard let bytes = form.bytes else {
            throw InvalidRequestError(.body, "a part of the form is read from a file while it is sent; use a MultipartRoute")
        }
        return (Data(bytes), form.contentType)
    }
}

extension FormDataPart {
    /// The bytes of a part in memory; empty for a file that is read while it is sent.
    public var data: Data { Data(bytes ?? []) }
}

/// Errors with Foundation's payloads, for test doubles and refresh strategies.
extension NetworkError {
    /// Status 401.
    @_disfavoredOverload  // For a nil payload, the case itself is chosen.
    public static func unauthorized(data: Data?, response: HTTPURLResponse?) -> NetworkError {
        .unauthorized(data: data.map { Array($0) }, response: response.map { HTTPResponse($0) })
    }

    /// Status 400 … 499 except 401.
    @_disfavoredOverload
    public static func clientError(code: Int, data: Data?, response: HTTPURLResponse?) -> NetworkError {
        .clientError(code: code, data: data.map { Array($0) }, response: response.map { HTTPResponse($0) })
    }

    /// Status 500 … 599.
    @_disfavoredOverload
    public static func serverError(code: Int, data: Data?, response: HTTPURLResponse?) -> NetworkError {
        .serverError(code: code, data: data.map { Array($0) }, response: response.map { HTTPResponse($0) })
    }

    /// Status 400 … 499 except 401, as in the response; 400 without one.
    public static func clientError(response: HTTPURLResponse?, data: Data?) -> NetworkError {
        .clientError(code: response?.statusCode ?? 400, data: data, response: response)
    }

    /// Status 500 … 599, as in the response; 500 without one.
    public static func serverError(response: HTTPURLResponse?, data: Data?) -> NetworkError {
        .serverError(code: response?.statusCode ?? 500, data: data, response: response)
    }

    /// A response that can't be decoded.
    public static func parsingError(data: Data?, underlyingError: any Error) -> NetworkError {
        .parsingError(underlyingError, data: data.map { Array($0) }, response: nil)
    }

    /// A response that can't be decoded.
    public static func parsingError(data: Data?, error: any Error) -> NetworkError {
        .parsingError(data: data, underlyingError: error)
    }

    /// A response that is not valid HTTP, or too large. The part that arrived is not kept, since it can't be relied on.
    public static func invalidResponse(data: Data?, response: URLResponse?) -> NetworkError { .invalidResponse }

    /// The error of a request to a service without an environment: an invalid URL, which names the service.
    public static func missingEnvironment(domain: String) -> NetworkError {
        .invalidURL(InvalidRequestError(.url(""), "the configuration has no environment for the domain \"\(domain)\""))
    }

    /// The head of the response; nil if there was none. An error doesn't know its request, so the URL is `about:blank`.
    public var httpResponse: HTTPURLResponse? {
        guard let response, let url = URL(string: "about:blank") else { return nil }
        return HTTPURLResponse(
            url: url, statusCode: response.status, httpVersion: "HTTP/\(response.version.rawValue)",
            headerFields: Dictionary(response.headers.mergedFields.values.map { ($0.name, $0.value) }) { first, _ in first })
    }

    /// Decodes the body of the response; nil if there is none, or if it can't be decoded as this type.
    public func tryDecode<Value: Decodable>(_ type: Value.Type, using decoder: JSONDecoder = JSONDecoder()) -> Value? {
        responseData.flatMap { try? decoder.decode(type, from: $0) }
    }
}

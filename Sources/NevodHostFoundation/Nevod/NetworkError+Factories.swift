public import Foundation
public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Errors with Foundation's payloads, for test doubles and refresh strategies.
extension NetworkError {
    /// Status 401.
    @_disfavoredOverload  // With nil as the payload, the case itself is meant.
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

    /// A response that is not valid HTTP, or too large. What arrived of it is not kept: it says nothing that can be relied on.
    public static func invalidResponse(data: Data?, response: URLResponse?) -> NetworkError { .invalidResponse }

    /// The error of a request to a service without an environment: an invalid URL, which names the service.
    public static func missingEnvironment(domain: String) -> NetworkError {
        .invalidURL(InvalidRequestError(.url(""), "the configuration has no environment for the domain \"\(domain)\""))
    }

    /// The head of the response; nil if there was none. An error doesn't know its request, so that the URL is `about:blank`.
    public var httpResponse: HTTPURLResponse? {
        guard let response, let url = URL(string: "about:blank") else { return nil }
        return HTTPURLResponse(
            url: url, statusCode: response.status, httpVersion: "HTTP/\(response.version.rawValue)",
            headerFields: Dictionary(response.headers.mergedFields.values.map { ($0.name, $0.value) }) { first, _ in first })
    }

    /// Decodes the body of the response; nil if there is none, or if it describes something else.
    public func tryDecode<Value: Decodable>(_ type: Value.Type, using decoder: JSONDecoder = JSONDecoder()) -> Value? {
        responseData.flatMap { try? decoder.decode(type, from: $0) }
    }
}

extension NetworkError {
    /// ``unauthorized(data:response:)`` without a response. A refresh strategy throws it when no new token can be obtained.
    public static var unauthorized: NetworkError { .unauthorized(data: nil, response: nil) }
    /// ``clientError(code:data:response:)`` without a response, for test doubles.
    ///
    /// - Parameter status: 400 … 499 except 401.
    public static func clientError(_ status: Int) -> NetworkError { .clientError(code: status, data: nil, response: nil) }
    /// The same as ``clientError(code:data:response:)``.
    public static func clientError(_ status: Int, data: [UInt8]?, response: HTTPResponse?) -> NetworkError {
        .clientError(code: status, data: data, response: response)
    }
    /// ``serverError(code:data:response:)`` without a response, for test doubles.
    ///
    /// - Parameter status: 500 … 599.
    public static func serverError(_ status: Int) -> NetworkError { .serverError(code: status, data: nil, response: nil) }
    /// The same as ``serverError(code:data:response:)``.
    public static func serverError(_ status: Int, data: [UInt8]?, response: HTTPResponse?) -> NetworkError {
        .serverError(code: status, data: data, response: response)
    }
    /// ``invalidURL(_:)`` with an empty URL.
    public static var invalidURL: NetworkError { .invalidURL(InvalidRequestError(.url(""), "it is empty")) }
    /// ``bodyEncodingFailed(_:)`` without a reason.
    public static var bodyEncodingFailed: NetworkError { .bodyEncodingFailed(Unspecified()) }
    /// ``parsingError(_:data:response:)`` without a reason and a response.
    public static var parsingError: NetworkError { .parsingError(Unspecified(), data: nil, response: nil) }
    /// ``timeout(_:)`` with the code ``TransportError/Code/timedOut``.
    public static var timeout: NetworkError { .timeout(TransportError(.timedOut)) }
    /// ``noConnection(_:)`` with the code ``TransportError/Code/connectionFailed``.
    public static var noConnection: NetworkError { .noConnection(TransportError(.connectionFailed)) }
    /// ``invalidResponse(_:)`` with the code ``TransportError/Code/malformedResponse``.
    public static var invalidResponse: NetworkError { .invalidResponse(TransportError(.malformedResponse)) }
    /// ``authenticationFailed(_:)`` without a reason.
    public static var authenticationFailed: NetworkError { .authenticationFailed(Unspecified()) }

    private struct Unspecified: Error, CustomStringConvertible {
        var description: String { "no reason was given" }
    }

    /// The response; nil if there was none.
    public var response: HTTPResponse? {
        switch self {
        case .unauthorized(_, let response), .clientError(_, _, let response), .serverError(_, _, let response),
            .unexpectedStatus(_, _, let response), .parsingError(_, _, let response):
            response
        default: nil
        }
    }

    /// The body of the response; nil if there was none, or if it was streamed.
    public var responseBody: [UInt8]? {
        switch self {
        case .unauthorized(let data, _), .clientError(_, let data, _), .serverError(_, let data, _),
            .unexpectedStatus(_, let data, _), .parsingError(_, let data, _):
            data
        default: nil
        }
    }

    /// The body of the response as UTF-8. The server's text may repeat secrets from the request.
    public var responseString: String? {
        responseBody.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The status of the response; 401 for ``unauthorized``, even without a response; nil if no status is known.
    public var statusCode: Int? {
        switch self {
        case .unauthorized: 401
        case .clientError(let status, _, _), .serverError(let status, _, _), .unexpectedStatus(let status, _, _): status
        default: response?.status
        }
    }

    /// The underlying error; nil if there is none.
    public var underlying: (any Error)? {
        switch self {
        case .invalidURL(let error), .invalidRequest(let error): error
        case .timeout(let error), .noConnection(let error), .invalidResponse(let error), .transport(let error): error
        case .bodyEncodingFailed(let error), .parsingError(let error, _, _), .authenticationFailed(let error),
            .authorization(let error), .interceptor(_, let error), .unknown(let error):
            error
        case .plugin(let error): error
        case .redirect(let error): error
        case .unauthorized, .clientError, .serverError, .unexpectedStatus, .cancelled: nil
        }
    }

    /// Whether the server responded with a status that isn't a success.
    public var isHTTPError: Bool {
        switch self {
        case .unauthorized, .clientError, .serverError, .unexpectedStatus: true
        default: false
        }
    }

    /// Whether the server could not be reached, or not in time.
    public var isConnectivityError: Bool {
        switch self {
        case .timeout, .noConnection: true
        default: false
        }
    }

    /// Decodes the response's body, for servers that describe their errors.
    public func decode<Value: Decodable>(_ type: Value.Type, using decoder: some BodyDecoder) throws -> Value {
        try decoder.value(type, in: responseBody ?? [])
    }
}

extension NetworkError: CustomStringConvertible {
    /// Describes the error, without the response's body, which may repeat secrets from the request.
    public var description: String {
        switch self {
        case .invalidURL(let error), .invalidRequest(let error): error.description
        case .bodyEncodingFailed(let error): "the body could not be encoded: \(error)"
        case .unauthorized(_, .some): "the server rejected the request's token (401)"
        case .unauthorized: "no valid token is available; log in again"
        case .clientError(let status, _, _), .serverError(let status, _, _): "the server returned status \(status)"
        case .unexpectedStatus(let status, _, _): "the server returned status \(status), which is not a success"
        case .parsingError(let error, _, _): "the response could not be decoded: \(error)"
        case .timeout(let error), .noConnection(let error), .invalidResponse(let error), .transport(let error):
            error.description
        case .authenticationFailed(let error): "the token could not be renewed and is still stored: \(error)"
        case .authorization(let error): "the request could not be authorized: \(error)"
        case .plugin(let error): error.description
        case .interceptor(let name, let error): "\(name): \(error)"
        case .redirect(let error): error.description
        case .cancelled: "the request was cancelled"
        case .unknown(let error): "\(error)"
        }
    }
}

extension NetworkError: CustomDebugStringConvertible, CustomReflectable {
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension NetworkError: Equatable {
    /// Whether both have the same case and status. Underlying errors and responses are not compared.
    public static func == (left: NetworkError, right: NetworkError) -> Bool {
        left.kind == right.kind && left.statusCode == right.statusCode
    }

    private var kind: Int {
        switch self {
        case .invalidURL: 0
        case .invalidRequest: 1
        case .bodyEncodingFailed: 2
        case .unauthorized: 3
        case .clientError: 4
        case .serverError: 5
        case .unexpectedStatus: 6
        case .parsingError: 7
        case .timeout: 8
        case .noConnection: 9
        case .invalidResponse: 10
        case .transport: 11
        case .authenticationFailed: 12
        case .authorization: 13
        case .plugin: 14
        case .interceptor: 15
        case .redirect: 16
        case .cancelled: 17
        case .unknown: 18
        }
    }
}

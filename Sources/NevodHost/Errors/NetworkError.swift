#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Why a request has no usable response.
///
/// Names and payloads follow Nevod's, with additions. Every case with a payload has a shorthand without one, so that
/// `throw NetworkError.unauthorized` and `guard case .unauthorized = error` both work.
public enum NetworkError: Error, Sendable {
    /// The route, or a URL, can't be turned into a request.
    case invalidURL(InvalidRequestError)
    /// A part of the request is invalid; nothing was sent.
    case invalidRequest(InvalidRequestError)
    /// The encoder failed to encode the body; nothing was sent.
    case bodyEncodingFailed(any Error)

    /// Status 401 (RFC 9110 §15.5.2): the server accepts no token that we have. The response is nil if no token could be
    /// obtained.
    case unauthorized(data: [UInt8]?, response: HTTPResponse?)
    /// Status 400 … 499 except 401.
    case clientError(code: Int, data: [UInt8]?, response: HTTPResponse?)
    /// Status 500 … 599.
    case serverError(code: Int, data: [UInt8]?, response: HTTPResponse?)
    /// Any other status that isn't a success, such as a redirect that was not followed.
    case unexpectedStatus(Int, data: [UInt8]?, response: HTTPResponse?)
    /// The response can't be decoded as the route's `Response`.
    case parsingError(any Error, data: [UInt8]?, response: HTTPResponse?)

    /// The request or its connection timed out. Whether the server acted on the request is unknown.
    case timeout(TransportError)
    /// The server can't be reached, or the connection to it broke.
    case noConnection(TransportError)
    /// The response is not valid HTTP, or too large.
    case invalidResponse(TransportError)
    /// Any other failure of the transport, such as TLS.
    case transport(TransportError)

    /// A token could not be renewed now. It is still stored, so the user needn't log in again.
    case authenticationFailed(any Error)
    /// A token could not be put on the request.
    case authorization(any Error)
    /// A scheme could not be used, or failed. The error names the scheme and the way out.
    case plugin(PluginError)
    /// An interceptor failed; the text is the name of its type.
    case interceptor(String, any Error)
    /// A redirect could not be followed.
    case redirect(RedirectError)
    /// The task was cancelled. Whether the server acted on the request is unknown.
    case cancelled
    /// Any other error, as it was thrown, such as a download's ``FileError`` or an error of a custom rate limiter.
    case unknown(any Error)
}

extension NetworkError {
    init(_ error: InvalidRequestError) {
        if case .url = error.part { self = .invalidURL(error) } else { self = .invalidRequest(error) }
    }

    init(_ error: TransportError) {
        self =
            switch error.code {
            case .cancelled: .cancelled
            case .timedOut: .timeout(error)
            case .hostNotFound, .connectionFailed, .connectionLost: .noConnection(error)
            case .malformedResponse, .headTooLarge, .bodyTooLarge: .invalidResponse(error)
            case .tls, .tlsConfiguration, .proxyRefused, .pinMismatch, .requestBody, .other: .transport(error)
            case .rejected:
                switch error.underlying {
                case let plugin as PluginError: .plugin(plugin)
                case let underlying?: underlying as? NetworkError ?? .unknown(underlying)
                case nil: .transport(error)
                }
            }
    }

    /// Creates the error for a response; nil for a success (RFC 9110 §15.3). A streamed body is left out.
    package init?(_ response: HTTPResponse) {
        let data: [UInt8]? = if case .bytes(let bytes) = response.body { bytes } else { nil }
        switch response.status {
        case 200...299: return nil
        case 401: self = .unauthorized(data: data, response: response)
        case 400...499: self = .clientError(code: response.status, data: data, response: response)
        case 500...599: self = .serverError(code: response.status, data: data, response: response)
        default: self = .unexpectedStatus(response.status, data: data, response: response)
        }
    }

    /// Creates the error for an outcome; nil for a success.
    init?(_ outcome: Result<HTTPResponse, TransportError>) {
        switch outcome {
        case .success(let response) where response.status < 400: return nil
        case .success(let response): self.init(response)
        case .failure(let error): self.init(error)
        }
    }
}

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

    /// Whether the server could not be reached, or the request timed out.
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

/// A redirect that can't be followed.
public struct RedirectError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Why a redirect can't be followed.
    public enum Problem: Sendable, Hashable {
        /// The server redirected more often than this limit.
        case tooMany(Int)
        /// The location is not a usable URL. The text gives the reason without the location.
        case unusable(String)
    }

    /// Why the redirect can't be followed.
    public let problem: Problem

    init(_ problem: Problem) {
        self.problem = problem
    }

    /// Describes the problem without the location, since the server's text may repeat secrets from the request.
    public var description: String {
        switch problem {
        case .tooMany(let limit): "more than \(limit) redirects; the server may be redirecting in a circle"
        case .unusable(let problem): "the redirect can't be followed: \(problem)"
        }
    }
}

/// A file that can't be written.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path of the file.
    public let path: String
    /// The `errno` of the failure.
    public let code: Int32

    init(_ path: String, _ code: Int32) {
        self.path = path
        self.code = code
    }

    public var description: String { "\(path): \(String(cString: strerror(code)))" }
}

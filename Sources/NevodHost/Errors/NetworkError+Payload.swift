extension NetworkError {
    /// Without an answer: what a refresh strategy throws when there is no other token to be had.
    public static var unauthorized: NetworkError { .unauthorized(data: nil, response: nil) }
    /// - Parameter status: 400 … 499, but for 401. For test doubles: no answer is attached.
    public static func clientError(_ status: Int) -> NetworkError { .clientError(status, data: nil, response: nil) }
    /// - Parameter status: 500 … 599. For test doubles: no answer is attached.
    public static func serverError(_ status: Int) -> NetworkError { .serverError(status, data: nil, response: nil) }
    /// With an empty URL as its reason.
    public static var invalidURL: NetworkError { .invalidURL(InvalidRequestError(.url(""), "it is none")) }
    /// Without a reason.
    public static var bodyEncodingFailed: NetworkError { .bodyEncodingFailed(Unspecified()) }
    /// Without a reason and an answer.
    public static var parsingError: NetworkError { .parsingError(Unspecified(), data: nil, response: nil) }
    /// With a reason of ``TransportError/Code/timedOut``.
    public static var timeout: NetworkError { .timeout(TransportError(.timedOut)) }
    /// With a reason of ``TransportError/Code/connectionFailed``.
    public static var noConnection: NetworkError { .noConnection(TransportError(.connectionFailed)) }
    /// With a reason of ``TransportError/Code/malformedResponse``.
    public static var invalidResponse: NetworkError { .invalidResponse(TransportError(.malformedResponse)) }
    /// Without a reason.
    public static var authenticationFailed: NetworkError { .authenticationFailed(Unspecified()) }

    private struct Unspecified: Error, CustomStringConvertible {
        var description: String { "no reason was given" }
    }

    /// The answer, where there was one.
    public var response: HTTPResponse? {
        switch self {
        case .unauthorized(_, let response), .clientError(_, _, let response), .serverError(_, _, let response),
            .unexpectedStatus(_, _, let response), .parsingError(_, _, let response):
            response
        default: nil
        }
    }

    /// The body of the answer.
    public var responseBody: [UInt8]? {
        switch self {
        case .unauthorized(let data, _), .clientError(_, let data, _), .serverError(_, let data, _),
            .unexpectedStatus(_, let data, _), .parsingError(_, let data, _):
            data
        default: nil
        }
    }

    /// The body of the answer, as UTF-8. The server's words: they may hold what was sent to it.
    public var responseString: String? {
        responseBody.map { String(decoding: $0, as: UTF8.self) }
    }

    /// 400 … 599 from the server, or another that is no success; 401 for ``unauthorized``, also where no answer came; nil where
    /// no status is known.
    public var statusCode: Int? {
        switch self {
        case .unauthorized: 401
        case .clientError(let status, _, _), .serverError(let status, _, _), .unexpectedStatus(let status, _, _): status
        default: response?.status
        }
    }

    /// What failed beneath.
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

    /// The server answered, and said no.
    public var isHTTPError: Bool {
        switch self {
        case .unauthorized, .clientError, .serverError, .unexpectedStatus: true
        default: false
        }
    }

    /// There was no way to the server, or not in time.
    public var isConnectivityError: Bool {
        switch self {
        case .timeout, .noConnection: true
        default: false
        }
    }

    /// The body of the answer as the error that the server describes.
    public func decode<Value: Decodable>(_ type: Value.Type, using decoder: some BodyDecoder) throws -> Value {
        try decoder.decode(type, from: responseBody ?? [])
    }
}

extension NetworkError: CustomStringConvertible {
    /// Without the body of an answer, which may hold what was sent.
    public var description: String {
        switch self {
        case .invalidURL(let error), .invalidRequest(let error): error.description
        case .bodyEncodingFailed(let error): "the body could not be encoded: \(error)"
        case .unauthorized(_, .some): "the server accepts no token of ours (401)"
        case .unauthorized: "there is no token that the server accepts; a login is needed"
        case .clientError(let status, _, _), .serverError(let status, _, _): "the server answered \(status)"
        case .unexpectedStatus(let status, _, _): "the server answered \(status), which is no success"
        case .parsingError(let error, _, _): "the answer is not what was expected: \(error)"
        case .timeout(let error), .noConnection(let error), .invalidResponse(let error), .transport(let error):
            error.description
        case .authenticationFailed(let error): "the token could not be renewed, and was kept: \(error)"
        case .authorization(let error): "the request could not be authorised: \(error)"
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
    /// The same case, and the same status; what lies beneath is not compared.
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

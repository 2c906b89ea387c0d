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
    /// The task was cancelled. Whether the server acted on it is unknown.
    case cancelled
    /// Any other error as it was thrown, such as a download's ``FileError`` or an error of a custom rate limiter.
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

    /// Nil for a success (RFC 9110 §15.3). A streamed body is left out.
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

    /// Nil for a success.
    init?(_ outcome: Result<HTTPResponse, TransportError>) {
        switch outcome {
        case .success(let response) where response.status < 400: return nil
        case .success(let response): self.init(response)
        case .failure(let error): self.init(error)
        }
    }
}

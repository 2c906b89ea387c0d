/// Why a request has no usable answer.
///
/// The names and payloads are Nevod's, with more where a reader needs to know more. Every case with a payload has a shorthand
/// without, so `throw NetworkError.unauthorized` and `guard case .unauthorized = error` both read well.
public enum NetworkError: Error, Sendable {
    /// The route, or a URL, can't be turned into a request.
    case invalidURL(InvalidRequestError)
    /// The request can't be sent as it stands.
    case invalidRequest(InvalidRequestError)
    /// The encoder refused the value that was to be the body; nothing was sent.
    case bodyEncodingFailed(any Error)

    /// 401 (RFC 9110 §15.5.2): there is no token that the server accepts. Without a response: none could be had.
    case unauthorized(data: [UInt8]?, response: HTTPResponse?)
    /// 400 … 499, but for 401.
    case clientError(Int, data: [UInt8]?, response: HTTPResponse?)
    /// 500 … 599.
    case serverError(Int, data: [UInt8]?, response: HTTPResponse?)
    /// Any other status that isn't a success: a redirect that was not followed.
    case unexpectedStatus(Int, data: [UInt8]?, response: HTTPResponse?)
    /// The answer came, and is not what the route promises.
    case parsingError(any Error, data: [UInt8]?, response: HTTPResponse?)

    /// The request's time was over, or that for its connection. Whether the server acted on it is unknown.
    case timeout(TransportError)
    /// The server can't be reached, or the connection to it broke.
    case noConnection(TransportError)
    /// The answer is not HTTP, or too large.
    case invalidResponse(TransportError)
    /// Anything else between here and the server, TLS for one.
    case transport(TransportError)

    /// A token could not be renewed now. It is still stored: this is no reason to log anybody out.
    case authenticationFailed(any Error)
    /// A token could not be put on the request.
    case authorization(any Error)
    /// A scheme could not be used, or failed. Says which, and the way out.
    case plugin(PluginError)
    /// An interceptor failed, by the name of its type.
    case interceptor(String, any Error)
    /// A redirect could not be followed.
    case redirect(RedirectError)
    /// The task was cancelled. Whether the server acted on it is unknown.
    case cancelled
    /// Anything else, as it was thrown: a ``FileError`` of a download, an error of a rate limiter of your own.
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
            }
    }

    /// Nil for a success (RFC 9110 §15.3). A body that is still arriving is not in it.
    init?(_ response: HTTPResponse) {
        let data: [UInt8]? = if case .bytes(let bytes) = response.body { bytes } else { nil }
        switch response.status {
        case 200...299: return nil
        case 401: self = .unauthorized(data: data, response: response)
        case 400...499: self = .clientError(response.status, data: data, response: response)
        case 500...599: self = .serverError(response.status, data: data, response: response)
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

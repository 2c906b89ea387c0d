/// Why a request has no answer.
public enum NetworkError: Error, Sendable {
    case invalidRequest(InvalidRequest)
    case transport(TransportError)
    case plugin(PluginError)
    /// A token could not be put on the request.
    case authorization(any Error)
    /// An interceptor failed, by the name of its type.
    case interceptor(String, any Error)
    /// A redirect could not be followed.
    case redirect(RedirectError)
    case cancelled
}

extension NetworkError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidRequest(let error): error.description
        case .transport(let error): error.description
        case .plugin(let error): error.description
        case .authorization(let error): "the request could not be authorised: \(error)"
        case .interceptor(let name, let error): "\(name): \(error)"
        case .redirect(let error): error.description
        case .cancelled: "the request was cancelled"
        }
    }
}

import NevodHost

extension TransportError {
    /// Returns the transport's error that another error was made of; nil if there is none.
    static func cause(of error: any Error) -> TransportError? {
        switch error {
        case let error as TransportError: error
        case NetworkError.timeout(let error), NetworkError.noConnection(let error), NetworkError.invalidResponse(let error),
            NetworkError.transport(let error):
            error
        case NetworkError.authenticationFailed(let error), NetworkError.interceptor(_, let error): cause(of: error)
        default: nil
        }
    }
}

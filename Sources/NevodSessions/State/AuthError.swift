public import NevodHost

/// Why an action of an ``AuthState`` failed, for an app to show.
public enum AuthError: Error, Sendable {
    /// The server rejected the credentials of a login (401).
    case invalidCredentials
    /// The server refused to renew the session's tokens, or the session is not valid any more. The user must log in again.
    case sessionExpired
    /// The server could not be reached, or didn't respond in time. A stored session is kept.
    case offline(any Error)
    /// The server returned another error, such as 422 for a registration. `NetworkError.decode` reads its body.
    case server(NetworkError)
    /// The session could not be read or saved.
    case storage(any Error)
    /// Any other error, as it was thrown.
    case other(any Error)
}

extension AuthError {
    /// - Parameter isLogin: whether a 401 means that the user's credentials are wrong.
    init?(_ error: any Error, isLogin: Bool) {
        switch error {
        case is CancellationError, NetworkError.cancelled: return nil
        case let error as AuthError: self = error
        case is SessionError: self = .sessionExpired
        case NetworkError.authorization(let reason) where reason is SessionError: self = .sessionExpired
        case let failure as any FailedResponse:
            guard let error = AuthError(failure.networkError, isLogin: isLogin) else { return nil }
            self = error
        case is StorageError, is NoSessionError: self = .storage(error)
        case let error as NetworkError where error.isConnectivityError: self = .offline(error)
        case NetworkError.authenticationFailed(let reason): self = .offline(reason)
        case NetworkError.unauthorized: self = isLogin ? .invalidCredentials : .sessionExpired
        case let error as NetworkError where error.isHTTPError: self = .server(error)
        default: self = .other(error)
        }
    }
}

extension AuthError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidCredentials: "the server rejected the user name or the password"
        case .sessionExpired: "the session has expired; log in again"
        case .offline(let error): "the server can't be reached now; the session is kept: \(error)"
        case .server(let error): "\(error)"
        case .storage(let error): "the session could not be read or saved: \(error)"
        case .other(let error): "\(error)"
        }
    }
}

extension AuthError: Equatable {
    /// Whether both are the same case, with errors that have the same description.
    public static func == (left: AuthError, right: AuthError) -> Bool {
        switch (left, right) {
        case (.invalidCredentials, .invalidCredentials), (.sessionExpired, .sessionExpired), (.offline, .offline),
            (.server, .server), (.storage, .storage), (.other, .other):
            left.description == right.description
        default: false
        }
    }
}

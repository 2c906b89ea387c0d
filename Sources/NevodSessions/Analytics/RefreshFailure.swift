internal import NevodHost
internal import NevodJWT
internal import NevodStorage

/// The cause of a failed renewal, as statistics group it. The raw value is the label.
public enum RefreshFailure: String, Sendable, Hashable, CaseIterable {
    /// The server has refused the refresh token (RFC 6749 §5.2): the session has ended. After any other failure, the session
    /// continues.
    case refused
    /// No connection, a connection that broke, or one that isn't secure.
    case network
    /// The server didn't respond in time.
    case timeout
    /// Status 500 … 599.
    case serverError = "server_error"
    /// The new tokens didn't pass their verification, or the keys for it were missing.
    case verification
    /// The session could not be read or written.
    case storage
    /// Any other failure.
    case other

    /// - Parameter error: an error of `TokenProvider.refresh(_:)`.
    public init(_ error: any Error) {
        if refusesGrant(error) {
            self = .refused
            return
        }
        switch error {
        case is StorageError: self = .storage
        case is JWTError, is any VerificationFailure: self = .verification
        case let error as NetworkError: self = Self.cause(of: error)
        default: self = .other
        }
    }

    private static func cause(of error: NetworkError) -> RefreshFailure {
        switch error {
        case .timeout: return .timeout
        case .noConnection, .transport: return .network
        case .serverError: return .serverError
        case .authenticationFailed(let error), .authorization(let error), .interceptor(_, let error), .unknown(let error):
            return RefreshFailure(error)
        default: return .other
        }
    }
}

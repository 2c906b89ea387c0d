internal import NevodOAuth

/// Whether an error means that the server will never renew the token. False for unknown errors.
package func refusesGrant(_ error: any Error) -> Bool {
    switch error {
    case is RefreshRejectedError: true
    case let error as OAuthError: error.endsSession
    case NetworkError.clientError(let status, let body?, _) where [400, 403].contains(status):
        if case .code(let code) = OAuthErrorCode.read(from: body) { code.meaning(status: status) == .refusal } else { false }
    case NetworkError.unauthorized(let body, .some):
        switch OAuthErrorCode.read(from: body ?? []) {
        // With `invalid_client`, the client's own credentials are wrong; the user's token may still be valid.
        case .code(let code): [.refusal, .unknown].contains(code.meaning(status: 401))
        case .none: true
        case .unreadable: false
        }
    default: false
    }
}

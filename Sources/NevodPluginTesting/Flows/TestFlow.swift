internal import NevodPluginABI

/// The purpose of a flow.
public enum TestFlow: Sendable, Equatable {
    /// Obtains a token.
    case login
    /// Renews a token.
    case refresh
    /// Answers a challenge (RFC 9110 §11.6.1).
    case challenge
    /// Revokes a token.
    case logout

    var number: Int {
        switch self {
        case .login: NEVOD_FLOW_LOGIN
        case .refresh: NEVOD_FLOW_REFRESH
        case .challenge: NEVOD_FLOW_CHALLENGE
        case .logout: NEVOD_FLOW_LOGOUT
        }
    }

    var name: String {
        switch self {
        case .login: "login"
        case .refresh: "refresh"
        case .challenge: "challenge"
        case .logout: "logout"
        }
    }
}

internal import NevodPluginABI
internal import NevodSupport

/// The next action of a flow. The host performs it, and passes the result to the flow as a ``FlowEvent``.
enum FlowAction: Sendable {
    case send(FlowRequest)
    case ask([FlowQuestion])
    case show(text: String, url: String)
    /// Opens a redirect URI on loopback.
    case listen(RedirectURI)
    case browse(url: String)
    case wait(Duration)
    /// Saves a token; the flow continues.
    case keep(IssuedToken)
    /// Saves a token and finishes the flow.
    case token(IssuedToken)

    /// The part of the action that needs a person, and may take long; nil if there is none.
    var userAction: UserAction? {
        switch self {
        case .ask(let questions): .answer(questions)
        case .show(let text, let url): .show(text: text, url: url)
        case .browse(let url): .open(url: url)
        case .send, .listen, .wait, .keep, .token: nil
        }
    }
}

/// A request of a flow.
struct FlowRequest: Sendable {
    var request: HTTPRequest
    let followsRedirects: Bool
}

/// A token as a flow issues it. Its bytes are opaque to the host.
struct IssuedToken: Sendable, Hashable {
    static let largest = Int(NEVOD_LIMIT_TOKEN)

    let bytes: Secret
    let expiresAt: UnixTime?
    /// The account that it belongs to, by which people tell sessions apart; may be empty.
    let account: String

    /// Returns this token with the old one's account, unless it names its own.
    func replacing(_ old: IssuedToken?) -> IssuedToken {
        guard account.isEmpty, let old else { return self }
        return IssuedToken(bytes: bytes, expiresAt: expiresAt, account: old.account)
    }

    static func == (left: IssuedToken, right: IssuedToken) -> Bool {
        left.bytes == right.bytes && left.expiresAt == right.expiresAt && left.account == right.account
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(expiresAt)
        hasher.combine(account)
    }
}

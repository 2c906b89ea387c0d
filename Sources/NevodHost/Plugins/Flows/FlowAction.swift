internal import NevodSupport

/// What a flow wants next. The host does it, and answers with a ``FlowEvent``.
enum FlowAction: Sendable {
    case send(FlowRequest)
    case ask([FlowQuestion])
    case show(text: String, url: String)
    /// Opens a redirect URI on loopback, with this path.
    case listen(path: String)
    case browse(url: String)
    case wait(Duration)
    /// Saves a token now, and goes on.
    case keep(IssuedToken)
    /// Saves a token, and is done.
    case token(IssuedToken)

    /// Whether a person has to do something, however long that takes.
    var involvesPeople: Bool {
        switch self {
        case .ask, .show, .browse: true
        case .send, .listen, .wait, .keep, .token: false
        }
    }
}

/// A request of a flow.
struct FlowRequest: Sendable {
    var request: HTTPRequest
    let followsRedirects: Bool
}

/// A token as a flow hands it over. The host never looks into its bytes.
struct IssuedToken: Sendable, Hashable {
    static let largest = 64 << 10

    let bytes: Secret
    let expiresAt: UnixTime?
    /// Whom it belongs to, for people to tell sessions apart; may be empty.
    let account: String

    /// It belongs to whom the one before belonged to, unless it says otherwise.
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

/// What a flow has to know from a person.
public struct FlowQuestion: Sendable, Hashable {
    /// How the answer is asked for.
    public enum Kind: Sendable, Hashable {
        /// One line, echoed.
        case text
        /// A password: not echoed.
        case secret
        /// A one-time code: echoed, never remembered.
        case code
        /// One of these.
        case choice([String])
    }

    /// The answer's name.
    public let name: String
    /// How the answer is asked for.
    public let kind: Kind
    /// One line: `One-time code from your authenticator`.
    public let prompt: String

    /// For tests of a ``UserInteraction``.
    public init(name: String, kind: Kind, prompt: String) {
        self.name = name
        self.kind = kind
        self.prompt = prompt
    }
}

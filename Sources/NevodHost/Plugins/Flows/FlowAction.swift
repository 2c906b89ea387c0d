/// The next action of a flow. The host performs it, and passes the result to the flow as a ``FlowEvent``.
enum FlowAction: Sendable {
    case send(FlowRequest)
    case ask([FlowQuestion])
    case show(text: String, url: String)
    /// Listens on loopback for a browser's redirect.
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

/// A redirect URI on loopback that a flow asks for (RFC 8252 §7.3).
struct RedirectURI: Sendable {
    /// The host in a loopback URL.
    enum Host: String, CaseIterable, Sendable {
        case ipv4 = "127.0.0.1"
        case ipv6 = "[::1]"
        /// Both addresses, because a browser may choose either.
        case localhost
    }

    /// Begins with a slash.
    let path: String
    var host = Host.ipv4
    /// 0 for any free port.
    var port: UInt16 = 0
    /// Whether the browser posts a form (OAuth 2.0 Form Post Response Mode), instead of a GET.
    var isFormPost = false
}

/// An action that a flow tried, and that this host can't perform.
struct UnsupportedAction: Sendable {
    /// The missing things, as words for a message: the names of questions, or `browser`.
    let wanted: [String]
    /// The action for a ``UserInteraction``; nil if ``UserInteraction`` has no such action.
    let action: UserAction?

    init(_ action: UserAction) {
        self.action = action
        switch action {
        case .answer(let questions): wanted = questions.map(\.name)
        case .show(_, let url): wanted = [url.isEmpty ? "show" : "browser"]
        case .open: wanted = ["browser"]
        }
    }

    init(_ wanted: [String]) {
        self.wanted = wanted
        action = nil
    }

    init(_ wanted: String) {
        self.init([wanted])
    }
}

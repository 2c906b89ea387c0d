/// Who wrote a part of a request. The host keeps it beside every header line, query item and cookie, so that it can redact
/// and strip exactly what a credential's author wrote, whatever name it went under.
public enum Author: Sendable, Hashable {
    /// The program that made the request, or the person at the command line.
    case caller
    /// The host itself: Host, Content-Length and the like.
    case host
    /// A token, by the name of its type.
    case token(String)
    /// A scheme of a plugin, by its id.
    case scheme(String)

    /// Tokens and schemes write credentials: nobody else gets to see what they wrote.
    public var writesCredentials: Bool {
        switch self {
        case .caller, .host: false
        case .token, .scheme: true
        }
    }
}

extension Author: CustomStringConvertible {
    public var description: String {
        switch self {
        case .caller: "caller"
        case .host: "host"
        case .token(let name): name
        case .scheme(let id): id
        }
    }
}

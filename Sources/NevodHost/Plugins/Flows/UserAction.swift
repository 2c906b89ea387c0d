/// An action of a flow that needs a person.
public enum UserAction: Sendable, Hashable {
    /// To answer these questions; see ``UserInteraction/answers(to:)``.
    case answer([FlowQuestion])
    /// To read a text, and to open an address by hand; either may be empty. See ``UserInteraction/show(_:url:)``.
    case show(text: String, url: String)
    /// To open an address in a browser; see ``UserInteraction/open(_:)``.
    case open(url: String)
}

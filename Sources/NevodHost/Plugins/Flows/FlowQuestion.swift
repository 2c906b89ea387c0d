/// A question of a flow to a person.
public struct FlowQuestion: Sendable, Hashable {
    /// The way to ask for the answer.
    public enum Kind: Sendable, Hashable {
        /// One line, echoed.
        case text
        /// A password: not echoed.
        case secret
        /// A one-time code: echoed, never remembered.
        case code
        /// One of the given values.
        case choice([String])
    }

    /// The answer's name.
    public let name: String
    /// The way to ask for the answer.
    public let kind: Kind
    /// One line, such as `One-time code from your authenticator`.
    public let prompt: String

    /// Makes a question, for tests of a ``UserInteraction``.
    public init(name: String, kind: Kind, prompt: String) {
        self.name = name
        self.kind = kind
        self.prompt = prompt
    }
}

/// An action of a flow that needs a person.
public enum UserAction: Sendable, Hashable {
    /// To answer these questions; see ``UserInteraction/answers(to:)``.
    case answer([FlowQuestion])
    /// To read a text, and to open an address by hand; either may be empty. See ``UserInteraction/show(_:url:)``.
    case show(text: String, url: String)
    /// To open an address in a browser; see ``UserInteraction/open(_:)``.
    case open(url: String)
}

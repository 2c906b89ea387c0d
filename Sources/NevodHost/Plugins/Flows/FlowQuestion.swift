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

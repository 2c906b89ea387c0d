/// A message of a PAM module for the person.
public struct PAMPrompt: Sendable, Hashable {
    /// The expected reaction of the person.
    public enum Style: Sendable, Hashable {
        /// A secret, which must not be shown while it is typed.
        case hidden
        /// A text that may be shown.
        case visible
        /// Nothing: the text is information.
        case information
        /// Nothing: the text is an error.
        case error
    }

    /// The expected reaction of the person.
    public let style: Style
    /// The module's text, such as `Password: `, without characters that are unsafe in a terminal.
    public let text: String
    /// The purpose of the check, as given to ``Presence``.
    public let reason: String

    /// Creates a prompt, for tests of what asks the person.
    public init(_ style: Style, text: String, reason: String) {
        self.style = style
        self.text = text
        self.reason = reason
    }
}

public import NevodSupport

/// The connection between flows and the person who logs in. An embedder implements it; without one, a flow that asks a question
/// fails with an error that names the question.
public protocol UserInteraction: Sendable {
    /// Called before a login. The login sends requests only to these origins, and to origins that an issuer's metadata names.
    func loginBegins(with scheme: String, at origins: [Origin]) async

    /// Whether an action can be performed. If not, the flow may try another one, such as a device code in place of a browser.
    ///
    /// Called before each action, while the plugin's function waits; must return at once. True by default.
    func supports(_ action: UserAction) -> Bool

    /// Returns the error for a flow that ended because these actions are not supported and it tried no others.
    ///
    /// - Returns: nil for ``PluginError/Reason/unanswered(scheme:questions:)``, the default.
    func error(forUnsupported actions: [UserAction]) -> (any Error)?

    /// Asks the person the questions.
    ///
    /// - Returns: an answer for each question, by its name.
    func answers(to questions: [FlowQuestion]) async throws -> [String: Secret]

    /// Shows a text and an address; either may be empty. The flow continues when this returns.
    ///
    /// - Parameters:
    ///   - text: in the scheme's words, without control characters.
    ///   - url: an address for the person to open.
    func show(_ text: String, url: String) async throws

    /// Opens an address in a browser. The host itself receives the browser's redirect.
    func open(_ url: String) async throws
}

extension UserInteraction {
    public func loginBegins(with scheme: String, at origins: [Origin]) async {}
    public func supports(_ action: UserAction) -> Bool { true }
    public func error(forUnsupported actions: [UserAction]) -> (any Error)? { nil }
}

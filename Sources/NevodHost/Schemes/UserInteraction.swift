public import NevodSupport

/// The person for whom a login is made, as flows see them. An embedder provides it; without one, a flow that needs an answer
/// fails, and says which.
public protocol UserInteraction: Sendable {
    /// A login begins that sends requests to these origins, and to no others unless an issuer's metadata names them.
    func loginBegins(with scheme: String, at origins: [Origin]) async

    /// - Returns: an answer for each question, by its name.
    func answers(to questions: [FlowQuestion]) async throws -> [String: Secret]

    /// Shows a text, and an address; either may be empty. The flow goes on when this returns.
    ///
    /// - Parameters:
    ///   - text: in the scheme's words, without control characters.
    ///   - url: an address that they should open by hand.
    func show(_ text: String, url: String) async throws

    /// Opens an address in a browser. What the browser sends back arrives elsewhere.
    func open(_ url: String) async throws
}

extension UserInteraction {
    public func loginBegins(with scheme: String, at origins: [Origin]) async {}
}

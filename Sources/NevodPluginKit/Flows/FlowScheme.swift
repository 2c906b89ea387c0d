public import NevodSupport

/// A scheme whose credential is a token: obtained by a login, stored by the host, put on each request.
///
/// Each flow is one `async` function. It does no I/O of its own: it awaits only the methods of ``AuthFlow``, which the host performs.
///
/// ```swift
/// struct SessionAuth: FlowScheme, LogoutFlow {
///     static let id = "session"
///     static let title = "Session id"
///
///     @Setting("server", help: "Where to log in") var server: ServerURL
///
///     func login(_ flow: AuthFlow) async throws(SchemeError) -> IssuedToken {
///         let answers = try await flow.ask([.text("user", "User"), .secret("password", "Password")])
///         let response = try await flow.send(.post("\(server.origin)/login", form: FormFields(answers)))
///         guard response.status == 200 else { throw .denied("the server refused the login") }
///         return IssuedToken(response.body)
///     }
///
///     func logout(_ flow: AuthFlow, _ token: Secret) async throws(SchemeError) {
///         _ = try await flow.send(.post("\(server.origin)/logout", form: ["session": .secret(token)]))
///     }
///
///     func authorize(_ request: borrowing RequestView, _ token: Secret, _ edits: Edits) {
///         edits.setHeader("X-Session", token)
///     }
/// }
/// ```
///
/// Refinements add other flows: ``RefreshFlow``, ``LogoutFlow``, ``ChallengeFlow``. Without a refresh, the host logs in again.
public protocol FlowScheme: AuthScheme {
    /// The token as requests use it, decoded from its bytes once. `Secret` is one.
    associatedtype Token: SchemeToken = Secret

    /// Whether the login asks the user. True by default.
    static var isInteractive: Bool { get }

    /// Obtains a token.
    ///
    /// - Throws: an error fails the flow with its status. Those of ``AuthFlow``'s calls may be passed on: one that
    ///   ``SchemeError/isTransport`` is a transient failure, which keeps a stored token.
    func login(_ flow: AuthFlow) async throws(SchemeError) -> IssuedToken

    /// The flow of a ``RefreshFlow``, which the kit implements.
    var refreshFunction: FlowFunction? { get }
    /// The flow of a ``LogoutFlow``, which the kit implements.
    var logoutFunction: FlowFunction? { get }
    /// The flow of a ``ChallengeFlow``, which the kit implements.
    var challengeFunction: FlowFunction? { get }

    /// Puts the token on one request. Must not block.
    func authorize(_ request: borrowing RequestView, _ token: Token, _ edits: Edits) throws(SchemeError)

    /// Handles the response to a request that this scheme authorized, as ``AuthScheme/respond(to:_:_:)`` does.
    ///
    /// - Parameters:
    ///   - response: the response; its body only as far as ``AuthScheme/needs`` asks for it.
    ///   - request: the request as it was sent, with the state that `authorize` got.
    ///   - token: the token that the request carried; nil if it had none.
    ///   - edits: takes the state for later requests to this origin, and a token from the response.
    /// - Throws: if the response can't be trusted.
    func respond(
        to response: borrowing ResponseView, _ request: borrowing RequestView, _ token: Token?, _ edits: ResponseEdits
    ) throws(SchemeError) -> Verdict
}

extension FlowScheme {
    public static var isInteractive: Bool { true }

    /// Fails, because there is no token to put on the request. A scheme that works without a token implements this.
    public func authorize(_ request: borrowing RequestView, _ edits: Edits) throws(SchemeError) {
        throw .badToken("there is no token yet: log in first")
    }

    public func respond(
        to response: borrowing ResponseView, _ request: borrowing RequestView, _ token: Token?, _ edits: ResponseEdits
    ) throws(SchemeError) -> Verdict {
        try respond(to: response, request, edits)
    }
}

public import NevodSupport

/// A scheme whose credential is a token: obtained by a login, stored by the host, put on each request.
///
/// Every flow is one `async` function. It does no I/O: what it awaits, ``AuthFlow`` asks of the host.
///
/// ```swift
/// struct SessionAuth: FlowScheme, LogoutFlow {
///     static let id = "session"
///     static let title = "Session id"
///
///     @Setting("server", help: "Where to log in") var server: ServerURL
///
///     func login(_ flow: AuthFlow) async throws -> IssuedToken {
///         let answers = try await flow.ask([.text("user", "User"), .secret("password", "Password")])
///         let response = try await flow.send(.post("\(server.origin)/login", form: FormFields(answers)))
///         guard response.status == 200 else { throw SchemeError.denied("the server refused the login") }
///         return IssuedToken(response.body)
///     }
///
///     func logout(_ flow: AuthFlow, _ token: Secret) async throws {
///         _ = try await flow.send(.post("\(server.origin)/logout", form: ["session": .secret(token)]))
///     }
///
///     func authorize(_ request: borrowing RequestView, _ token: Secret, _ edits: Edits) {
///         edits.setHeader("X-Session", token)
///     }
/// }
/// ```
///
/// Refinements say which other flows there are: ``RefreshFlow``, ``LogoutFlow``, ``ChallengeFlow``. Where there is no refresh,
/// the host logs in anew.
public protocol FlowScheme: AuthScheme {
    /// What a request needs of the token, made of its bytes once. `Secret` is one.
    associatedtype Token: SchemeToken = Secret

    /// Whether the login asks a person. True unless a scheme says otherwise.
    static var isInteractive: Bool { get }

    /// Obtains a token.
    ///
    /// - Throws: a ``SchemeError`` ends the flow with its status; a ``FlowTransportError`` as a passing failure, which leaves
    ///   a stored token as it is; any other error as a fault of the plugin, of which the user is told the type and no more.
    func login(_ flow: AuthFlow) async throws -> IssuedToken

    /// Puts the token on one request. Must not block.
    func authorize(_ request: borrowing RequestView, _ token: Token, _ edits: Edits) throws(SchemeError)

    /// Sees the answer to a request that this scheme authorised, as ``AuthScheme/respond(to:_:_:)`` does.
    ///
    /// - Parameters:
    ///   - response: its body is not there.
    ///   - request: as it was sent, with the state that `authorize` was shown.
    ///   - token: the one that the request carried, nil where it went without.
    ///   - edits: takes the state that requests to this origin are shown next, and a token that the answer brought.
    func respond(
        to response: borrowing ResponseView, _ request: borrowing RequestView, _ token: Token?, _ edits: ResponseEdits
    ) -> Verdict
}

extension FlowScheme {
    public static var isInteractive: Bool { true }

    /// Without a token there is nothing to put on a request. A scheme that can do without implements this.
    public func authorize(_ request: borrowing RequestView, _ edits: Edits) throws(SchemeError) {
        throw .badToken("there is no token yet: log in first")
    }

    public func respond(
        to response: borrowing ResponseView, _ request: borrowing RequestView, _ token: Token?, _ edits: ResponseEdits
    ) -> Verdict {
        respond(to: response, request, edits)
    }
}

/// A scheme that can make a new token of an old one, which has expired or was rejected.
public protocol RefreshFlow: FlowScheme {
    /// - Throws: as ``FlowScheme/login(_:)``; ``SchemeError/badToken(_:)`` where a login has to help, and
    ///   ``SchemeError/denied(_:detail:)`` where the server has refused for good.
    func refresh(_ flow: AuthFlow, _ token: Token) async throws -> IssuedToken
}

/// A scheme that gives its token back. The host clears it, whatever becomes of this.
public protocol LogoutFlow: FlowScheme {
    /// Tells the server that the token is not wanted any more.
    ///
    /// - Throws: as ``FlowScheme/login(_:)``. The token is cleared all the same, and whoever logs out is told the error.
    func logout(_ flow: AuthFlow, _ token: Token) async throws
}

/// A scheme that needs requests of its own to answer a challenge: ``AuthScheme/respond(to:_:_:)`` says
/// ``Verdict/challenge``, and the request is sent again with what this returns.
public protocol ChallengeFlow: FlowScheme {
    /// Obtains a token that meets the challenge.
    ///
    /// - Parameters:
    ///   - flow: what the function asks the host by.
    ///   - response: what ``AuthScheme/respond(to:_:_:)`` has seen; its body is not there.
    ///   - token: nil when there was none.
    func challenge(_ flow: AuthFlow, _ response: FlowResponse, _ token: Token?) async throws -> IssuedToken
}

/// A token as a scheme uses it: immutable, made of the stored bytes once, used by many requests at a time.
public protocol SchemeToken: Sendable {
    /// - Throws: ``SchemeError/badToken(_:)`` for bytes that it can't read, for instance of an older version of the plugin.
    init(decoding bytes: Span<UInt8>) throws(SchemeError)
}

extension Secret: SchemeToken {
    public convenience init(decoding bytes: Span<UInt8>) throws(SchemeError) {
        self.init(bytes)
    }
}

public import NevodSupport

/// A scheme whose credential is a token: obtained by a login, stored by the host, put on each request.
///
/// Each flow is one `async` function. It does no I/O of its own: it awaits only the methods of ``AuthFlow``, which the host
/// performs.
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
    /// The token as requests use it, decoded from its bytes once. `Secret` is such a type.
    associatedtype Token: SchemeToken = Secret

    /// Whether the login asks the user. True by default.
    static var isInteractive: Bool { get }

    /// Obtains a token.
    ///
    /// - Throws: an error fails the flow with its status. Errors of ``AuthFlow``'s calls may be passed on: one with
    ///   ``SchemeError/isTransport`` set is a transient failure, which keeps a stored token.
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
    ///   - response: the response. It has a body only if ``AuthScheme/needs`` asks for one.
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

/// A scheme that can renew a token that has expired or was rejected.
public protocol RefreshFlow: FlowScheme {
    /// Obtains a new token with the old one.
    ///
    /// - Throws: as ``FlowScheme/login(_:)``; ``SchemeError/badToken(_:)`` if a login is needed, and
    ///   ``SchemeError/denied(_:detail:)`` if the server refused permanently.
    func refresh(_ flow: AuthFlow, _ token: Token) async throws(SchemeError) -> IssuedToken
}

/// A scheme that can revoke its token. The host clears the token even if that fails.
public protocol LogoutFlow: FlowScheme {
    /// Revokes the token at the server.
    ///
    /// - Throws: as ``FlowScheme/login(_:)``. The token is cleared nevertheless, and the caller of the logout gets the error.
    func logout(_ flow: AuthFlow, _ token: Token) async throws(SchemeError)
}

/// A scheme that needs requests of its own to meet a challenge: after ``AuthScheme/respond(to:_:_:)`` returns
/// ``Verdict/challenge``, the request is sent again with the token from this flow.
public protocol ChallengeFlow: FlowScheme {
    /// Obtains a token that meets the challenge.
    ///
    /// - Parameters:
    ///   - flow: the function's access to the host.
    ///   - response: the response that ``AuthScheme/respond(to:_:_:)`` got, with its body if the scheme has
    ///     ``Needs/challengeBody``.
    ///   - token: nil if there was none.
    func challenge(_ flow: AuthFlow, _ response: FlowResponse, _ token: Token?) async throws(SchemeError) -> IssuedToken
}

/// A flow of a scheme, as the kit runs it. The kit makes it from functions such as ``FlowScheme/login(_:)``; authors don't need it.
public struct FlowFunction: Sendable {
    let run: @Sendable (AuthFlow, FlowStart) async throws(SchemeError) -> IssuedToken
}

/// The input of a flow.
struct FlowStart: Sendable {
    let token: IssuedToken?
    let response: FlowResponse?

    func token<Scheme: FlowScheme>(of scheme: Scheme.Type) throws(SchemeError) -> Scheme.Token {
        guard let token else { throw .internal("the host started this flow without a token") }
        return try token.bytes.withUnsafeBytes { bytes throws(SchemeError) in
            try Scheme.Token(decoding: Span(_unsafeBytes: bytes))
        }
    }
}

extension FlowScheme {
    public static var schemeTable: SchemeTable { SchemeTable(flowsOf: Self.self) }
    public var refreshFunction: FlowFunction? { nil }
    public var logoutFunction: FlowFunction? { nil }
    public var challengeFunction: FlowFunction? { nil }
}

extension RefreshFlow {
    public var refreshFunction: FlowFunction? {
        FlowFunction { flow, start async throws(SchemeError) in
            try await refresh(flow, try start.token(of: Self.self))
        }
    }
}

extension LogoutFlow {
    public var logoutFunction: FlowFunction? {
        FlowFunction { flow, start async throws(SchemeError) in
            try await logout(flow, try start.token(of: Self.self))
            return IssuedToken(.absent)
        }
    }
}

extension ChallengeFlow {
    public var challengeFunction: FlowFunction? {
        FlowFunction { flow, start async throws(SchemeError) in
            guard let response = start.response else {
                throw .internal("the host started a challenge without a response")
            }
            let token = start.token == nil ? nil : try start.token(of: Self.self)
            return try await challenge(flow, response, token)
        }
    }
}

/// A scheme that needs requests of its own to meet a challenge: after ``AuthScheme/respond(to:_:_:)`` returns ``Verdict/challenge``,
/// the request is sent again with the token from this flow.
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

/// A flow of a scheme, as the kit runs it. The kit makes it of ``FlowScheme/login(_:)`` and its kind; authors have no use for it.
public struct FlowFunction: Sendable {
    let run: @Sendable (AuthFlow, FlowStart) async throws(SchemeError) -> IssuedToken
}

/// The input of a flow.
struct FlowStart: Sendable {
    let token: IssuedToken?
    let response: FlowResponse?

    func token<Scheme: FlowScheme>(of scheme: Scheme.Type) throws(SchemeError) -> Scheme.Token {
        guard let token else { throw .internal("the host gave this flow no token") }
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

/// Puts a token on every request, at its place in the chain. It never changes: there is nothing to renew.
///
/// Not for a token whose phase is ``TokenPhase/signature``: what comes behind it in the chain would change what it has signed.
/// That one is a provider's signer.
public struct TokenInterceptor<Token: TokenModel>: RequestInterceptor {
    private let token: Token

    public init(_ token: Token) {
        precondition(Token.phase == .credential, "\(Token.self) signs: make it the provider's signer")
        self.token = token
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        try await token.authorize(&exchange)
    }
}

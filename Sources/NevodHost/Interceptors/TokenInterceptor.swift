/// Puts a token on every request, at its place in the chain. It never changes: there is nothing to renew.
public struct TokenInterceptor<Token: TokenModel>: RequestInterceptor {
    private let token: Token

    public init(_ token: Token) {
        self.token = token
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        try await token.authorize(&exchange)
    }
}

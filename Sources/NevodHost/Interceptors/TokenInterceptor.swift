/// Puts a token on every request. It never changes: there is nothing to renew. (An ``AuthenticationInterceptor``, in
/// contrast, takes its token from a storage, and renews it.)
public struct TokenInterceptor<Token: TokenModel>: RequestInterceptor {
    public let phase: TokenPhase
    private let token: Token

    /// - Parameters:
    ///   - token: goes on every request, and is never renewed.
    ///   - phase: where in the chain; by default where the token's type belongs.
    public init(_ token: Token, phase: TokenPhase = Token.phase) {
        self.token = token
        self.phase = phase
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        guard exchange.mayCarryCredentials else { return }
        try await token.write(on: &exchange)
    }
}

extension TokenModel {
    /// Authorises, with an error that says whose fault it is.
    func write(on exchange: inout Exchange) async throws {
        do { try await authorize(&exchange) } catch let error as PluginError { throw NetworkError.plugin(error) } catch {
            throw NetworkError.authorization(error)
        }
    }
}

/// Puts a fixed token on each request. (An ``AuthenticationInterceptor``, in contrast, takes its token from a storage and
/// renews it.)
public struct TokenInterceptor<Token: TokenModel>: RequestInterceptor {
    public let phase: TokenPhase
    private let token: Token

    /// - Parameters:
    ///   - token: goes on each request, and is never renewed.
    ///   - phase: when in the chain the token is added; by default, the phase of its type.
    public init(_ token: Token, phase: TokenPhase = Token.phase) {
        self.token = token
        self.phase = phase
    }

    /// Whether the token is a plugin's.
    public var mayBlock: Bool { Token.self is PluginToken.Type }

    public func adapt(_ exchange: inout Exchange) async throws {
        guard exchange.mayCarryCredentials else { return }
        try await token.write(on: &exchange)
    }
}

extension TokenInterceptor: ParameterTaking {
    var parameterDeclaring: (any ParameterDeclaring)? { (token as? any ParameterTaking)?.parameterDeclaring }
}

extension TokenModel {
    /// Authorizes the exchange. Errors are wrapped so that they name their source: the plugin, or the token.
    func write(on exchange: inout Exchange) async throws {
        do { try await authorize(&exchange) } catch let error as PluginError { throw NetworkError.plugin(error) } catch {
            throw error is CancellationError ? error : NetworkError.authorization(error)
        }
    }
}

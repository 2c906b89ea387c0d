/// Puts a fixed token on each request. (An ``AuthenticationInterceptor``, in contrast, takes its token from a storage and
/// renews it.)
public struct TokenInterceptor<Token: TokenModel>: CredentialInterceptor {
    public let phase: TokenPhase
    public let provides: Set<AuthRequirement>
    private let token: Token
    private let selected: RequestFilter?

    /// - Parameters:
    ///   - token: goes on each request, and is never renewed.
    ///   - phase: when in the chain the token is added; by default, the phase of its type.
    ///   - shouldAuthenticate: selects the requests that carry the token; nil for all.
    ///   - provides: the requirements of routes that the token meets; by default its type's, or the id of a plugin's scheme.
    public init(
        _ token: Token, phase: TokenPhase = Token.phase, shouldAuthenticate: RequestFilter? = nil,
        provides: Set<AuthRequirement>? = nil
    ) {
        self.token = token
        self.phase = phase
        selected = shouldAuthenticate
        let plugin = token as? PluginToken
        // A route's requirement never means a proxy's credential.
        self.provides = plugin?.isForProxy == true ? [] : provides ?? [plugin?.requirement ?? Token.requirement]
    }

    /// Whether the token is a plugin's.
    public var mayBlock: Bool { Token.self is PluginToken.Type }

    public func adapt(_ exchange: inout Exchange) async throws {
        guard exchange.mayCarryCredentials, provides.isEmpty || exchange.allows(provides),
            selected?.matches(exchange.request) != false
        else { return }
        if !provides.isEmpty { exchange.hasCredential = true }
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

internal import Foundation
public import NevodHost
public import NevodJWT

/// Validates the access token of a session: its signature and claims here, and whether it was revoked at the server.
///
/// ```swift
/// let validator = TokenValidator(
///     verifier: JWTVerifier(algorithms: [.es256], issuer: "https://login.example.com", audience: "shop"),
///     keys: RemoteKeySet(issuer: "https://login.example.com"))
/// let validation = try await validator.validate(tokens)
/// if validation.isExpired { … }
/// ```
public struct TokenValidator: Sendable {
    private let verifier: JWTVerifier
    private let keys: any JWTKeySource
    private let introspection: TokenIntrospection?
    private let clock: HostClock

    /// - Parameters:
    ///   - verifier: the rules for tokens.
    ///   - keys: the issuer's keys: a ``RemoteKeySet``, or keys that the app has.
    ///   - introspection: asks the server about tokens that have not expired; nil to ask nothing.
    ///   - clock: decides whether a token has expired.
    public init(
        verifier: JWTVerifier, keys: some JWTKeySource, introspection: TokenIntrospection? = nil, clock: HostClock = .system
    ) {
        self.verifier = verifier
        self.keys = keys
        self.introspection = introspection
        self.clock = clock
    }

    /// Validates the access token. Its expiry is no error; anything else that makes it unacceptable is.
    ///
    /// - Throws: `JWTError` for a token that doesn't meet the rules; errors of the keys, such as ``RemoteKeyError``, and of the
    ///   introspection.
    public func validate(_ tokens: AuthTokens) async throws -> TokenValidation {
        let (claims, isExpired) = try await verify(tokens.accessToken)
        var server: ServerValidation?
        if !isExpired, let introspection {
            server = ServerValidation(try await introspection.introspect(tokens.accessToken, hint: .accessToken))
        }
        return TokenValidation(
            isExpired: isExpired, expiresAt: claims.expiresAt.map(Date.init(timeIntervalSince1970:)), claims: claims,
            serverValidation: server)
    }

    /// Verifies an access token, which may have expired.
    func verify(_ token: String) async throws -> (JWTClaims, isExpired: Bool) {
        do {
            return (try await verifier.verify(token, with: keys, at: clock.now.numericDate), false)
        } catch let error as JWTError where error.code == .expired {
            // As of the last second in which it was valid, so that an expired token must meet all other rules too.
            guard let expiry = try JSONWebToken(token).unverifiedClaims.expiresAt else { throw error }
            return (try await verifier.verify(token, with: keys, at: expiry - 1), true)
        }
    }

    /// Verifies an access token that was just issued.
    func verifyNew(_ token: String) async throws {
        _ = try await verifier.verify(token, with: keys, at: clock.now.numericDate)
    }

    /// Makes sure that keys are known, before something that can't be repeated depends on them.
    func prepare() async throws {
        if let remote = keys as? RemoteKeySet { try await remote.load() }
    }
}

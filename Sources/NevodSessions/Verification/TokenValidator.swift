public import Foundation
public import NevodHost
public import NevodJWT

/// Validates a session's access token: checks its signature and claims here, and asks the server whether it was revoked.
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

    /// Validates the access token. Its expiry isn't an error; anything else that makes it unacceptable is.
    ///
    /// - Throws: `JWTError` for a token that breaks the rules; errors of the keys, such as ``RemoteKeyError``, and of the
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
            // Verified as of its last valid second, so that an expired token must meet all other rules too.
            guard let expiry = try JSONWebToken(token).unverifiedClaims.expiresAt else { throw error }
            return (try await verifier.verify(token, with: keys, at: expiry - 1), true)
        }
    }

    /// Verifies a newly issued access token, which must not have expired.
    func verifyNew(_ token: String) async throws {
        _ = try await verifier.verify(token, with: keys, at: clock.now.numericDate)
    }

    /// Makes sure that keys are known before a step that can't be repeated depends on them.
    func prepare() async throws {
        if let remote = keys as? RemoteKeySet { try await remote.load() }
    }
}

/// The result of a ``TokenValidator`` for tokens whose signature is valid.
public struct TokenValidation: Sendable, Hashable {
    /// Whether the access token has expired.
    public let isExpired: Bool
    /// When the access token expires (`exp`); nil if it doesn't say.
    public let expiresAt: Date?
    /// The claims of the access token, verified.
    public let claims: JWTClaims
    /// The server's view of the token; nil if the server wasn't asked, because the token has expired or the validator has no
    /// introspection.
    public let serverValidation: ServerValidation?

    /// Whether the access token can be used: it has not expired, and the server (if asked) calls it active.
    public var isValid: Bool { !isExpired && serverValidation?.isValid != false }
}

/// An authorization server's view of an access token (RFC 7662).
public struct ServerValidation: Sendable, Hashable {
    /// The response, including the server's own members: `response.members[int: "rate_limit"]`.
    public let response: IntrospectedToken

    /// Whether the token is active: neither expired nor revoked.
    public var isValid: Bool { response.isActive }
    /// The permissions of the token: its scopes (RFC 6749 §3.3).
    public var permissions: [String] { response.scopes }

    init(_ response: IntrospectedToken) {
        self.response = response
    }
}

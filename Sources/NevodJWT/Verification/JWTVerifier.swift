public import NevodSupport

/// The rules that a token must obey to be accepted (RFC 7519 §7.2, RFC 8725).
///
/// ```swift
/// let verifier = JWTVerifier(algorithms: [.es256], issuer: "https://id.example.com", audience: "orders")
/// let claims = try verifier.verify(token, with: keys, at: now)
/// ```
///
/// A token is verified in this order: its form, `typ`, its algorithm, its signature, and then its claims. So an error about a claim comes
/// from a token that the issuer has signed.
public struct JWTVerifier: Sendable, Hashable {
    /// The accepted algorithms. There is no default: the token itself must not decide (RFC 8725 §3.1).
    public var algorithms: Set<JWTAlgorithm>
    /// The only accepted value of `iss`; nil accepts any, and a token without one.
    public var issuer: String?
    /// The value that `aud` must contain.
    ///
    /// Nil accepts only tokens without `aud`: one for a named audience is for no one else (RFC 7519 §4.1.3).
    public var audience: String?
    /// The only accepted media type in the header's `typ`, such as `at+jwt` (RFC 9068 §4), with or without `application/`; nil accepts
    /// any.
    public var type: String?
    /// How far the clocks of the issuer and of this machine may differ, for `exp`, `nbf` and `iat`. A negative duration counts as none.
    public var leeway: Duration
    /// The claims that must be there. Without `exp` among them, a token without an expiry is accepted for ever.
    public var requiredClaims: Set<String>

    /// The most keys that are tried for one token.
    static let keyLimit = 16

    /// Creates rules.
    ///
    /// - Parameters:
    ///   - algorithms: those of the issuer's keys.
    ///   - issuer: the value of `iss`, compared byte by byte.
    ///   - audience: the verifying party's name in `aud`, compared byte by byte.
    ///   - type: the media type in the header, such as `at+jwt`.
    ///   - leeway: 30 seconds by default.
    ///   - requiredClaims: `exp` by default.
    public init(
        algorithms: Set<JWTAlgorithm>, issuer: String? = nil, audience: String? = nil, type: String? = nil,
        leeway: Duration = .seconds(30), requiredClaims: Set<String> = ["exp"]
    ) {
        self.algorithms = algorithms
        self.issuer = issuer
        self.audience = audience
        self.type = type
        self.leeway = leeway
        self.requiredClaims = requiredClaims
    }

    /// Verifies a token with keys that are at hand.
    ///
    /// - Parameters:
    ///   - text: the token in the compact form, without `Bearer`.
    ///   - keys: those that don't fit the token's algorithm and key identifier are left out. Of the others, the first 16 are tried.
    ///   - seconds: the time now, since 1970.
    /// - Returns: the claims.
    public func verify(_ text: String, with keys: [JSONWebKey], at seconds: Double) throws(JWTError) -> JWTClaims {
        try text.withToken { text throws(JWTError) in try verify(text, with: keys, at: seconds) }
    }

    /// Verifies a token that is kept as a secret, with keys that are at hand.
    public func verify(_ text: Secret, with keys: [JSONWebKey], at seconds: Double) throws(JWTError) -> JWTClaims {
        try text.withUnsafeBytes { text throws(JWTError) in try verify(text, with: keys, at: seconds) }
    }

    private func verify(
        _ text: UnsafeRawBufferPointer, with keys: [JSONWebKey], at seconds: Double
    ) throws(JWTError) -> JWTClaims {
        let parsed = try CompactJWS(text)
        let claims = try JWTClaims(json: parsed.payload)
        try checkType(parsed.header)
        try verifySignature(parsed, of: text, with: keys)
        try check(claims, at: seconds)
        return claims
    }
}

#if !hasFeature(Embedded)
    extension JWTVerifier {
        /// Verifies a token with keys of a source, which is asked only if the header is acceptable.
        ///
        /// - Throws: a ``JWTError``, or what the source throws.
        public func verify(_ text: String, with source: some JWTKeySource, at seconds: Double) async throws -> JWTClaims {
            let header = try text.withToken { text throws(JWTError) in try acceptableHeader(text) }
            return try verify(text, with: await source.keys(for: header), at: seconds)
        }

        /// Verifies a token that is kept as a secret, with keys of a source, which is asked only if the header is acceptable.
        ///
        /// - Throws: a ``JWTError``, or what the source throws.
        public func verify(_ text: Secret, with source: some JWTKeySource, at seconds: Double) async throws -> JWTClaims {
            let header = try text.withUnsafeBytes { text throws(JWTError) in try acceptableHeader(text) }
            return try verify(text, with: await source.keys(for: header), at: seconds)
        }

        private func acceptableHeader(_ text: UnsafeRawBufferPointer) throws(JWTError) -> JWTHeader {
            let parsed = try CompactJWS(text)
            try checkType(parsed.header)
            _ = try acceptedAlgorithm(parsed.header)
            return parsed.header
        }
    }
#endif

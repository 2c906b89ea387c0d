public import NevodSupport

/// The rules that a token must obey to be accepted (RFC 7519 §7.2, RFC 8725).
///
/// ```swift
/// let verifier = JWTVerifier(algorithms: [.es256], issuer: "https://id.example.com", audience: "orders")
/// let claims = try verifier.verify(token, with: keys, at: now)
/// ```
///
/// A token is verified in this order: its form, `typ`, its algorithm, its signature, and then its claims. So an error about a
/// claim means that the issuer has signed the token.
public struct JWTVerifier: Sendable, Hashable {
    /// The accepted algorithms. There is no default: the token itself must not decide (RFC 8725 §3.1).
    public var algorithms: Set<JWTAlgorithm>
    /// The only accepted value of `iss`; nil accepts any value, and even a token without `iss`.
    public var issuer: String?
    /// The value that `aud` must contain.
    ///
    /// Nil accepts only tokens without `aud`: a token for a named audience is for nobody else (RFC 7519 §4.1.3).
    public var audience: String?
    /// The only accepted media type in the header's `typ`, such as `at+jwt` (RFC 9068 §4), with or without `application/`; nil
    /// accepts any.
    public var type: String?
    /// How far the clocks of the issuer and of this machine may differ, for `exp`, `nbf` and `iat`. A negative duration counts as
    /// zero.
    public var leeway: Duration
    /// The claims that must be present. If `exp` is not among them, a token without an expiry is accepted forever.
    public var requiredClaims: Set<String>

    /// The most keys that are tried for one token.
    static let keyLimit = 16

    /// Creates rules.
    ///
    /// - Parameters:
    ///   - algorithms: the algorithms of the issuer's keys.
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

    /// Verifies a token with the given keys.
    ///
    /// - Parameters:
    ///   - text: the token in the compact form, without `Bearer`.
    ///   - keys: the keys to try. Keys that don't fit the token's algorithm and key identifier are left out; the first 16 others
    ///     are tried.
    ///   - seconds: the current time, in seconds since 1970.
    /// - Returns: the claims.
    public func verify(_ text: String, with keys: [JSONWebKey], at seconds: Double) throws(JWTError) -> JWTClaims {
        try text.withToken { text throws(JWTError) in try verify(text, with: keys, at: seconds) }
    }

    /// Verifies a token that is kept as a secret, with the given keys.
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
        /// Verifies a token with keys from a source. The source is asked only if the header is acceptable.
        ///
        /// - Throws: a ``JWTError``, or the source's error.
        public func verify(_ text: String, with source: some JWTKeySource, at seconds: Double) async throws -> JWTClaims {
            let header = try text.withToken { text throws(JWTError) in try acceptableHeader(text) }
            return try verify(text, with: await source.keys(for: header), at: seconds)
        }

        /// Verifies a token that is kept as a secret, with keys from a source. The source is asked only if the header is
        /// acceptable.
        ///
        /// - Throws: a ``JWTError``, or the source's error.
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

extension JWTVerifier {
    /// Verifies only a signature, of any payload (RFC 7515 §5.2).
    ///
    /// - Returns: the payload.
    package func verifiedPayload(_ text: String, with keys: [JSONWebKey]) throws(JWTError) -> [UInt8] {
        try text.withToken { text throws(JWTError) in
            let parsed = try CompactJWS(text)
            try verifySignature(parsed, of: text, with: keys)
            return parsed.payload
        }
    }

    func verifySignature(
        _ parsed: borrowing CompactJWS, of text: UnsafeRawBufferPointer, with keys: [JSONWebKey]
    ) throws(JWTError) {
        let algorithm = try acceptedAlgorithm(parsed.header)
        let message = UnsafeRawBufferPointer(rebasing: text[..<parsed.signedCount])
        let signature = UnsafeRawBufferPointer(parsed.signature)
        var tried = 0
        for key in keys where tried < Self.keyLimit && key.fits(parsed.header) {
            tried += 1
            if key.key.isSignature(signature, of: message, algorithm) { return }
        }
        guard tried > 0 else {
            throw JWTError(
                .noKey, "no key of \(keys.count) fits the token's algorithm \(algorithm.rawValue) and key identifier (kid)")
        }
        throw JWTError(.signature, "the signature is not valid")
    }

    /// The token's algorithm, if it is one of the verifier's.
    func acceptedAlgorithm(_ header: JWTHeader) throws(JWTError) -> JWTAlgorithm {
        guard let algorithm = header.knownAlgorithm else {
            throw JWTError(.algorithm, "the token has no signature, or one of an unknown algorithm (alg)")
        }
        guard algorithms.contains(algorithm) else {
            throw JWTError(.algorithm, "the token is signed with \(algorithm.rawValue), which is not accepted")
        }
        return algorithm
    }

    func checkType(_ header: JWTHeader) throws(JWTError) {
        guard let type else { return }
        guard let other = header.type, MediaType.matches(type, other) else {
            throw JWTError(.type, "the token's type (typ) is not \(type)")
        }
    }
}

extension JWTVerifier {
    /// Checks the claims of a token with a valid signature, or from a trusted source such as an introspection.
    ///
    /// - Parameters:
    ///   - claims: the claims of a token that is otherwise acceptable.
    ///   - seconds: the current time, in seconds since 1970.
    /// - Throws: for the first rule that is broken.
    public func check(_ claims: JWTClaims, at seconds: Double) throws(JWTError) {
        if !requiredClaims.allSatisfy(claims.contains) {
            // Sorted, so that the same token is always refused for the same reason.
            let missing = requiredClaims.sorted().first { !claims.contains($0) } ?? ""
            throw JWTError(.missingClaim, "the claim \(missing) is missing")
        }
        let leeway = max(0, Double(self.leeway.components.seconds) + Double(self.leeway.components.attoseconds) / 1e18)
        // The negations refuse a time that is NaN: it is before the start and after the expiry.
        if let expiry = try time("exp", claims), !(seconds < expiry + leeway) {
            throw JWTError(.expired, "the token has expired (exp)")
        }
        if let start = try time("nbf", claims), !(seconds >= start - leeway) {
            throw JWTError(.notYetValid, "the token is not valid yet (nbf)")
        }
        if let issue = try time("iat", claims), !(seconds >= issue - leeway) {
            throw JWTError(.notYetValid, "the token was issued in the future (iat)")
        }
        try checkIssuer(claims)
        try checkString("sub", claims)
        try checkString("jti", claims)
        try checkAudience(claims)
    }

    private func checkIssuer(_ claims: JWTClaims) throws(JWTError) {
        guard let issuer else { return try checkString("iss", claims) }
        guard let member = claims.member("iss"), member.kind == .string, claims.equals(member.contents, issuer) else {
            throw JWTError(.issuer, "the token is not from \(issuer) (iss)")
        }
    }

    private func checkString(_ name: String, _ claims: JWTClaims) throws(JWTError) {
        guard let member = claims.member(name), member.kind != .string else { return }
        throw JWTError(.claim, "the claim \(name) is not a string")
    }

    private func checkAudience(_ claims: JWTClaims) throws(JWTError) {
        let member = claims.member("aud")
        guard member != nil || audience != nil else { return }
        guard let named = member.flatMap(claims.strings) else {
            throw JWTError(.audience, "the claim aud is missing, or neither a string nor an array of strings")
        }
        guard let audience else {
            throw JWTError(.audience, "the token is for an audience (aud), but the verifier has none")
        }
        guard named.contains(where: { claims.equals($0, audience) }) else {
            throw JWTError(.audience, "the token is not for \(audience) (aud)")
        }
    }

    private func time(_ name: String, _ claims: JWTClaims) throws(JWTError) -> Double? {
        guard let member = claims.member(name) else { return nil }
        guard let time = claims.time(member) else {
            throw JWTError(.claim, "the claim \(name) is not a time in seconds since 1970")
        }
        return time
    }
}

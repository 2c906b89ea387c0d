extension JWTVerifier {
    /// Checks the claims of a token whose signature is valid, or that came from a source that is trusted, such as an introspection.
    ///
    /// - Parameters:
    ///   - claims: those of a token that is otherwise acceptable.
    ///   - seconds: the time now, since 1970.
    /// - Throws: for the first rule that isn't obeyed.
    public func check(_ claims: JWTClaims, at seconds: Double) throws(JWTError) {
        if !requiredClaims.allSatisfy(claims.contains) {
            // Sorted, so that the same token is always refused for the same reason.
            let missing = requiredClaims.sorted().first { !claims.contains($0) } ?? ""
            throw JWTError(.missingClaim, "the claim \(missing) is missing")
        }
        let leeway = max(0, Double(self.leeway.components.seconds) + Double(self.leeway.components.attoseconds) / 1e18)
        // Written so that a clock that shows no number is before the start and after the expiry.
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
            throw JWTError(.audience, "the token is for an audience (aud), and the verifier has none")
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

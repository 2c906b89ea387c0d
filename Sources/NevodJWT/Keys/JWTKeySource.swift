// Embedded Swift has no type for an arbitrary error: its users fetch the keys themselves.
#if !hasFeature(Embedded)
    /// A source of keys that may have signed a token.
    ///
    /// ``JSONWebKeySet`` is one. Others fetch an issuer's keys:
    /// ```swift
    /// struct TwoIssuers: JWTKeySource {
    ///     let old: JSONWebKeySet
    ///     let new: JSONWebKeySet
    ///     func keys(for header: JWTHeader) -> [JSONWebKey] { new.keys(for: header) + old.keys(for: header) }
    /// }
    /// ```
    public protocol JWTKeySource: Sendable {
        /// Returns keys that fit a token's header, at best few of them: at most 16 are tried.
        ///
        /// - Parameter header: from the token, before anything is verified. Its algorithm is one that the verifier accepts.
        /// - Throws: if the keys can't be had now, for example because the issuer is not reachable.
        func keys(for header: JWTHeader) async throws -> [JSONWebKey]
    }
#endif

/// The tokens that a server has issued for stored ones, and that are not stored yet, since they could not be verified.
struct UnverifiedTokens: Sendable {
    /// The stored tokens, which the server may not accept any more.
    let old: AuthTokens
    let new: AuthTokens
}

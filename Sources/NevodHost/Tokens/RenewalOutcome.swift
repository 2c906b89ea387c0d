/// The outcome of an attempt to renew a token.
enum RenewalOutcome: Sendable {
    /// The stored token is now another one: the renewed token, or one that was saved meanwhile.
    case replaced
    /// A renewal before expiry failed. The server has not refused the token, so it remains in use.
    case stillUsable
    /// No other token can be obtained, as for a key that doesn't expire. The stored one stays.
    case noReplacement
    /// The server refused the renewal, for this reason. The token is cleared: a login is needed.
    case refused(any Error)
    /// The renewal failed, and may succeed later. The stored token stays.
    case failed(any Error)
}

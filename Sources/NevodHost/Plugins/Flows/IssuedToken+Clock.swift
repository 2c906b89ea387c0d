extension IssuedToken {
    /// Returns this token with its expiry moved from one clock to another.
    ///
    /// A scheme computes an expiry with the time that it was given, or takes it from a server, and both are on the server's clock.
    /// The host compares it with its own.
    ///
    /// - Parameter correction: how far the new clock is ahead of the old one, in nanoseconds.
    func moved(by correction: Int64) -> IssuedToken {
        guard correction != 0, let expiresAt else { return self }
        return IssuedToken(bytes: bytes, expiresAt: expiresAt + .nanoseconds(correction), account: account)
    }
}

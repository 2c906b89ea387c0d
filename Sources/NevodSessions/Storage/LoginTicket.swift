/// A login in progress: what was stored when it began, so that its outcome never replaces the session of a later login, and never
/// undoes a logout.
struct LoginTicket: Sendable {
    /// The number of logins and logouts that had begun in this process.
    let turn: Int
    /// The session that was stored.
    let session: SessionIdentifier?
}

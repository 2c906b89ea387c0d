/// The end of a session in a ``SessionTokens``.
public struct SessionEnd: Sendable, Hashable {
    /// Why a session ended.
    public enum Reason: Sendable, Hashable {
        /// The server refused to renew the tokens, which were removed together with the user. The user must log in again.
        case refused
        /// The session was removed, as by a logout.
        case cleared
        /// Another session was saved in its place, as by another login.
        case replaced
    }

    /// The session that ended.
    public let session: SessionIdentifier
    /// Why it ended.
    public let reason: Reason
}

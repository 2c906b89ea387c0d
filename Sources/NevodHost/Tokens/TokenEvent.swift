/// A change of a stored token, and its reason. (``TokenStorage/changes``, in contrast, yields only the token that is now stored.)
///
/// ```swift
/// for await event in storage.events {
///     if case .refused = event { showLogin() }
/// }
/// ```
///
/// A session ends with one event: ``refused(_:)`` or ``cleared``, whichever happens first. Only if another process has cleared the
/// token, and the server then refuses the renewal that this process had begun, both are reported, in this order.
public enum TokenEvent<Token: TokenModel>: Sendable {
    /// A token was saved, as after a login; or another process has stored one, for whatever reason.
    case saved(Token)
    /// The token was replaced by one that the server issued: by an interceptor's renewal or login, or in a response.
    case renewed(Token)
    /// The server refused to renew the token, for this reason, and it was cleared. Reported once for each session, to each reader,
    /// however many requests have met the refusal. The user has to log in again.
    case refused(any Error)
    /// The token was cleared: a logout by this program, or any end of the session in another process.
    case cleared

    /// The token that is now stored; nil if none is.
    public var token: Token? {
        switch self {
        case .saved(let token), .renewed(let token): token
        case .refused, .cleared: nil
        }
    }
}

extension TokenEvent: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Describes the event without the token.
    public var description: String {
        switch self {
        case .saved: "a token was saved"
        case .renewed: "the token was renewed"
        case .refused(let error): "the server refused to renew the token: \(error)"
        case .cleared: "the token was cleared"
        }
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

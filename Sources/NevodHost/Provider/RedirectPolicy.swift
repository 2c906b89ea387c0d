/// What to do about redirects.
public enum RedirectPolicy: Sendable, Hashable {
    /// The redirect is the answer.
    case none
    /// At most so many.
    case follow(limit: Int)
}

/// Whether redirects are followed.
public enum RedirectPolicy: Sendable, Hashable {
    /// Returns a redirect as the response.
    case none
    /// Follows up to `limit` redirects; one more fails the request.
    case follow(limit: Int)
}

/// A redirect that can't be followed.
public struct RedirectError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Why a redirect can't be followed.
    public enum Problem: Sendable, Hashable {
        /// The server redirected more often than this limit.
        case tooMany(Int)
        /// The location is not a usable URL. The text gives the reason without the location.
        case unusable(String)
    }

    /// Why the redirect can't be followed.
    public let problem: Problem

    init(_ problem: Problem) {
        self.problem = problem
    }

    /// Describes the problem without the location, since the server's text may repeat secrets from the request.
    public var description: String {
        switch problem {
        case .tooMany(let limit): "more than \(limit) redirects; the server may be redirecting in a circle"
        case .unusable(let problem): "the redirect can't be followed: \(problem)"
        }
    }
}

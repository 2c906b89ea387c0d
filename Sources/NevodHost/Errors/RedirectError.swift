/// A redirect that can't be followed.
public struct RedirectError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Why it can't be followed.
    public enum Problem: Sendable, Hashable {
        /// The limit, which the server's redirects exceed.
        case tooMany(Int)
        /// The location is no URL that a request can go to; why, in words without the location itself.
        case unusable(String)
    }

    /// What a program can act on; ``description`` says it in words.
    public let problem: Problem

    init(_ problem: Problem) {
        self.problem = problem
    }

    /// The location itself is left out: it is the server's text, and may hold what we sent it.
    public var description: String {
        switch problem {
        case .tooMany(let limit): "more than \(limit) redirects; the server may be sending us in a circle"
        case .unusable(let problem): "the server's redirect can't be followed: \(problem)"
        }
    }
}

/// A list that can't be followed to its end.
public struct PaginationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with the next page.
    public enum Problem: Sendable, Hashable {
        /// The next page is one that was there already.
        case repeats
        /// There is more, and no cursor to it.
        case noCursor
        /// As many pages as `mostPages` allows, and there are more.
        case tooManyPages(Int)
        /// The next page is on another origin (RFC 6454), which must not get what was meant for the first.
        case otherOrigin(Origin)
        /// The link is no `http` or `https` URL; the text says why.
        case unusableLink(String)
    }

    /// What is wrong with the next page.
    public let problem: Problem

    init(_ problem: Problem) {
        self.problem = problem
    }

    public var description: String {
        switch problem {
        case .repeats: "the server's next page is one that it has sent already; following it would never end"
        case .noCursor: "the server says that there is more, and gives no cursor to it"
        case .tooManyPages(let limit): "more than \(limit) pages; raise mostPages if there are so many"
        case .otherOrigin(let origin): "the server's next page is on another origin, \(origin), and is not fetched"
        case .unusableLink(let problem): "the server's link to the next page can't be used: \(problem)"
        }
    }
}

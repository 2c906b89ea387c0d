/// A paginated list that can't be loaded to its end.
public struct PaginationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem with the next page.
    public enum Problem: Sendable, Hashable {
        /// The server's next page is one that was loaded already.
        case repeats
        /// The server says that there are more pages, but sends no cursor.
        case noCursor
        /// There are more pages than `mostPages` allows.
        case tooManyPages(Int)
        /// The next page is on another origin (RFC 6454), which must not receive the request's headers and credentials.
        case otherOrigin(Origin)
        /// The link is not a valid `http` or `https` URL, with the reason.
        case unusableLink(String)
    }

    /// The problem with the next page.
    public let problem: Problem

    init(_ problem: Problem) {
        self.problem = problem
    }

    public var description: String {
        switch problem {
        case .repeats: "the server's next page was loaded already; following it would never end"
        case .noCursor: "the server says that there are more pages, but sends no cursor for the next one"
        case .tooManyPages(let limit): "more than \(limit) pages; raise mostPages if the list is really longer"
        case .otherOrigin(let origin): "the server's next page is on another origin, \(origin), and is not loaded"
        case .unusableLink(let problem): "the server's link to the next page can't be used: \(problem)"
        }
    }
}

/// How the next page is requested from a server.
public enum PaginationStyle: Sendable, Hashable {
    /// `?offset=20&limit=20`
    case offset(pageSize: Int)
    /// `?page=2&limit=20`, numbered from 1.
    case pageNumber(pageSize: Int)
    /// `?cursor=…&limit=20`, without a cursor for the first page.
    case cursor(cursorKey: String = "cursor", limitKey: String? = "limit", pageSize: Int? = nil)
    /// Each page links to the next one in its `Link` header with `rel="next"` (RFC 8288), on the same origin only.
    case linkHeader(limitKey: String? = nil, pageSize: Int? = nil)
}

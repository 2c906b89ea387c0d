/// How a server is asked for the next page.
public enum PaginationStyle: Sendable, Hashable {
    /// `?offset=20&limit=20`
    case offset(pageSize: Int)
    /// `?page=2&limit=20`, from 1.
    case pageNumber(pageSize: Int)
    /// `?cursor=…&limit=20`, without a cursor for the first page.
    case cursor(cursorKey: String = "cursor", limitKey: String? = "limit", pageSize: Int? = nil)
    /// The first page says in its `Link` header where the next one is, by `rel="next"` (RFC 8288). On the same origin only.
    case linkHeader(limitKey: String? = nil, pageSize: Int? = nil)
}

/// A page in a common format: `{"items": […], "has_more": true, "total": 120}`.
public struct StandardPageResponse<Item: Decodable & Sendable>: Decodable, Sendable {
    /// The items of this page.
    public let items: [Item]
    /// Whether there is another page.
    public let hasMore: Bool
    /// The number of items in the whole list; nil if the server doesn't send it.
    public let total: Int?

    private enum CodingKeys: String, CodingKey {
        case items
        case hasMore = "has_more"
        case total
    }
}

/// A page with a cursor for the next page: `{"items": […], "next_cursor": "…", "has_more": true}`.
public struct CursorPageResponse<Item: Decodable & Sendable>: Decodable, Sendable {
    /// The items of this page.
    public let items: [Item]
    /// The cursor of the next page; nil after the last.
    public let nextCursor: String?
    /// Whether there is another page.
    public let hasMore: Bool
    /// The number of items in the whole list; nil if the server doesn't send it.
    public let total: Int?

    private enum CodingKeys: String, CodingKey {
        case items
        case nextCursor = "next_cursor"
        case hasMore = "has_more"
        case total
    }
}

extension Paginator where PageResponse == StandardPageResponse<Item> {
    /// Creates a paginator for ``StandardPageResponse`` pages.
    public static func standard(
        provider: NetworkProvider, endpoint: String, domain: Domain, style: Style = .pageNumber(pageSize: 20),
        additionalQuery: [String: String] = [:]
    ) -> Paginator {
        Paginator(
            provider: provider, endpoint: endpoint, domain: domain, style: style,
            parser: ResponseParser(extractItems: \.items, hasMore: \.hasMore, totalCount: \.total),
            additionalQuery: additionalQuery)
    }
}

extension Paginator where PageResponse == CursorPageResponse<Item> {
    /// Creates a paginator for ``CursorPageResponse`` pages.
    public static func cursor(
        provider: NetworkProvider, endpoint: String, domain: Domain, cursorKey: String = "cursor",
        limitKey: String? = "limit", pageSize: Int? = 20, additionalQuery: [String: String] = [:]
    ) -> Paginator {
        Paginator(
            provider: provider, endpoint: endpoint, domain: domain,
            style: .cursor(cursorKey: cursorKey, limitKey: limitKey, pageSize: pageSize),
            parser: ResponseParser(
                extractItems: \.items, hasMore: \.hasMore, nextCursor: \.nextCursor, totalCount: \.total),
            additionalQuery: additionalQuery)
    }
}

extension Paginator where PageResponse == [Item] {
    /// Creates a paginator for pages that are arrays. A page with fewer items than `pageSize` is the last.
    ///
    /// - Parameters:
    ///   - provider: sends the requests; its chain authorizes each.
    ///   - endpoint: the path below the service's base URL; see ``Route/endpoint``.
    ///   - domain: the service that the requests go to.
    ///   - style: how the next page is requested; nil for page numbers with `pageSize`.
    ///   - pageSize: the number of items requested for each page.
    ///   - additionalQuery: query parameters of every page, except pages that the server links to.
    public static func simple(
        provider: NetworkProvider, endpoint: String, domain: Domain, style: Style? = nil, pageSize: Int = 20,
        additionalQuery: [String: String] = [:]
    ) -> Paginator {
        Paginator(
            provider: provider, endpoint: endpoint, domain: domain, style: style ?? .pageNumber(pageSize: pageSize),
            parser: ResponseParser(extractItems: { $0 }, hasMore: { $0.count >= pageSize }),
            additionalQuery: additionalQuery)
    }
}

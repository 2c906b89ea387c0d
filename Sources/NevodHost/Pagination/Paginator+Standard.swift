extension Paginator where PageResponse == StandardPageResponse<Item> {
    /// Of ``StandardPageResponse`` pages.
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
    /// Of ``CursorPageResponse`` pages.
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
    /// Of pages that are arrays. One with fewer items than `pageSize` is the last.
    ///
    /// - Parameters:
    ///   - provider: sends the requests; its chain authorises each.
    ///   - endpoint: the path below the service's; see ``Route/endpoint``.
    ///   - domain: the service that the request goes to.
    ///   - style: nil: by number, with that page size.
    ///   - pageSize: of items, as the server is asked; it may send fewer.
    ///   - additionalQuery: in the query of every page but those that the server links to.
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

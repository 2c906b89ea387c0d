/// Loads a list from a server page by page.
///
/// ```swift
/// let users = Paginator<User, StandardPageResponse<User>, Service>.standard(
///     provider: provider, endpoint: "/users", domain: .api, style: .pageNumber(pageSize: 20))
/// for try await user in users.items { print(user.name) }
/// ```
///
/// ``items`` and ``pages`` start at the first page each time; ``loadNext()`` continues after the last page loaded.
public actor Paginator<Item: Decodable & Sendable, PageResponse: Decodable & Sendable, Domain: ServiceDomain> {
    /// ``PaginationStyle`` under Nevod's name.
    public typealias Style = PaginationStyle

    /// Extracts the items and the position of the next page from a page.
    public struct ResponseParser: Sendable {
        let extractItems: @Sendable (PageResponse) -> [Item]
        let hasMore: @Sendable (PageResponse) -> Bool
        let nextCursor: (@Sendable (PageResponse) -> String?)?
        let totalCount: (@Sendable (PageResponse) -> Int?)?

        /// Creates a parser.
        ///
        /// - Parameters:
        ///   - extractItems: returns the items of a page, in order.
        ///   - hasMore: returns whether there is another page; ignored with ``PaginationStyle/linkHeader(limitKey:pageSize:)``.
        ///   - nextCursor: returns the cursor of the next page.
        ///   - totalCount: returns the number of items in the whole list.
        public init(
            extractItems: @escaping @Sendable (PageResponse) -> [Item], hasMore: @escaping @Sendable (PageResponse) -> Bool,
            nextCursor: (@Sendable (PageResponse) -> String?)? = nil, totalCount: (@Sendable (PageResponse) -> Int?)? = nil
        ) {
            self.extractItems = extractItems
            self.hasMore = hasMore
            self.nextCursor = nextCursor
            self.totalCount = totalCount
        }
    }

    private let loader: PageLoader<Item, PageResponse, Domain>
    private var state: PaginationState
    private var isLoading = false
    private var waiting = Deque<Waiter<Void>>()
    /// The number of resets. A page that was requested before a reset is not added to the new list.
    private var generation = 0

    /// All items loaded by ``loadNext()`` so far.
    public private(set) var allItems: [Item] = []
    /// The number of items in the whole list; nil if the server doesn't send it.
    public private(set) var totalCount: Int?

    /// Creates a paginator.
    ///
    /// - Parameters:
    ///   - provider: sends the requests; its chain authorizes each.
    ///   - endpoint: the path below the service's base URL; see ``Route/endpoint``.
    ///   - domain: the service that the requests go to.
    ///   - style: how the next page is requested.
    ///   - parser: extracts the items from each page.
    ///   - additionalQuery: query parameters of every page, except pages that the server links to.
    ///   - headers: header lines of every page's request.
    ///   - mostPages: limits the number of pages, in case the list never ends.
    public init(
        provider: NetworkProvider, endpoint: String, domain: Domain, style: Style = .pageNumber(pageSize: 20),
        parser: ResponseParser, additionalQuery: [String: String] = [:], headers: [String: String]? = nil,
        mostPages: Int = 10_000
    ) {
        loader = PageLoader(
            provider: provider, endpoint: endpoint, domain: domain, parser: parser, additionalQuery: additionalQuery,
            headers: headers, start: PaginationState(style, mostPages: mostPages))
        state = loader.start
    }

    /// Whether ``loadNext()`` has another page to load.
    public var hasMore: Bool { state.hasMore }

    /// Loads the next page, and returns its items; an empty array at the end. Concurrent callers get one page each, in order. A
    /// page that failed to load is requested again by the next call.
    ///
    /// - Throws: ``NetworkError``, ``PaginationError``.
    @discardableResult
    public func loadNext() async throws -> [Item] {
        try await takeTurn()
        defer { passTurn() }
        let (before, generation) = (state, generation)
        do {
            guard let (page, after) = try await loader.load(before) else { return [] }
            guard generation == self.generation else { return page.items }
            state = after
            totalCount = page.totalCount ?? totalCount
            allItems += page.items
            return page.items
        } catch let error as PaginationError {
            if generation == self.generation { state.end() }
            throw error
        }
    }

    /// Loads all remaining pages, and returns their items.
    public func loadAll() async throws -> [Item] {
        var items: [Item] = []
        while hasMore { items += try await loadNext() }
        return items
    }

    /// Returns to the first page, and discards all items.
    public func reset() {
        generation += 1
        state = loader.start
        allItems = []
        totalCount = nil
    }

    /// The list from its first page, item by item. A page is loaded when its first item is requested.
    public nonisolated var items: Items { Items(loader: loader) }

    /// The list from its first page, page by page.
    public nonisolated var pages: Pages { Pages(loader: loader) }

    private func takeTurn() async throws {
        while isLoading {
            let waiter = Waiter<Void>()
            waiting.append(waiter)
            try await waiter.value(until: nil)
        }
        isLoading = true
    }

    private func passTurn() {
        isLoading = false
        while let waiter = waiting.popFirst() {
            if waiter.resume(with: .success(())) { return }
        }
    }
}

extension Paginator {
    /// The items of all pages.
    public struct Items: AsyncSequence, Sendable {
        fileprivate let loader: PageLoader<Item, PageResponse, Domain>

        public func makeAsyncIterator() -> Iterator {
            Iterator(pages: Pages(loader: loader).makeAsyncIterator())
        }

        /// Loads pages as they are needed.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var pages: Pages.Iterator
            private var page: ArraySlice<Item> = []

            fileprivate init(pages: Pages.Iterator) {
                self.pages = pages
            }

            public mutating func next() async throws -> Item? {
                while page.isEmpty {
                    guard let next = try await pages.next() else { return nil }
                    page = next[...]
                }
                return page.removeFirst()
            }
        }
    }

    /// The items of each page.
    public struct Pages: AsyncSequence, Sendable {
        fileprivate let loader: PageLoader<Item, PageResponse, Domain>

        public func makeAsyncIterator() -> Iterator {
            Iterator(loader: loader)
        }

        /// Loads pages as they are needed.
        public struct Iterator: AsyncIteratorProtocol {
            private let loader: PageLoader<Item, PageResponse, Domain>
            private var state: PaginationState

            fileprivate init(loader: PageLoader<Item, PageResponse, Domain>) {
                self.loader = loader
                state = loader.start
            }

            public mutating func next() async throws -> [Item]? {
                guard let (page, after) = try await loader.load(state) else { return nil }
                state = after
                return page.items
            }
        }
    }
}

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

/// A list that a server hands out page by page.
///
/// ```swift
/// let users = Paginator<User, StandardPageResponse<User>, Service>.standard(
///     provider: provider, endpoint: "/users", domain: .api, style: .pageNumber(pageSize: 20))
/// for try await user in users.items { print(user.name) }
/// ```
///
/// ``items`` and ``pages`` begin at the first page each time; ``loadNext()`` goes on from where the last one was.
public actor Paginator<Item: Decodable & Sendable, PageResponse: Decodable & Sendable, Domain: ServiceDomain> {
    /// Under the name that Nevod has for it.
    public typealias Style = PaginationStyle

    /// Reads a page.
    public struct ResponseParser: Sendable {
        let extractItems: @Sendable (PageResponse) -> [Item]
        let hasMore: @Sendable (PageResponse) -> Bool
        let nextCursor: (@Sendable (PageResponse) -> String?)?
        let totalCount: (@Sendable (PageResponse) -> Int?)?

        /// - Parameters:
        ///   - extractItems: the items of a page, in their order.
        ///   - hasMore: whether there is another page; not asked with ``PaginationStyle/linkHeader(limitKey:pageSize:)``.
        ///   - nextCursor: of the page behind this one.
        ///   - totalCount: of the items of the whole list.
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
    /// Counts the resets: a page that was on its way during one belongs to the list before it.
    private var generation = 0

    /// All items loaded so far.
    public private(set) var allItems: [Item] = []
    /// Of the whole list, if the server says.
    public private(set) var totalCount: Int?

    /// - Parameters:
    ///   - provider: sends the requests; its chain authorises each.
    ///   - endpoint: the path below the service's; see ``Route/endpoint``.
    ///   - domain: the service that the request goes to.
    ///   - style: how the next page is asked for.
    ///   - parser: reads the pages.
    ///   - additionalQuery: in the query of every page but those that the server links to.
    ///   - headers: of every page.
    ///   - mostPages: more than these are taken for a list without end.
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

    /// Whether ``loadNext()`` has anything to load.
    public var hasMore: Bool { state.hasMore }

    /// The items of the next page; none at the end. Callers at the same time get one page each, in their order. A page that
    /// failed is asked for again.
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

    /// The items of all pages that were not loaded yet.
    public func loadAll() async throws -> [Item] {
        var items: [Item] = []
        while hasMore { items += try await loadNext() }
        return items
    }

    /// Back to the first page.
    public func reset() {
        generation += 1
        state = loader.start
        allItems = []
        totalCount = nil
    }

    /// The list from its first page on, item by item; a page is loaded when its first item is asked for.
    public nonisolated var items: Items { Items(loader: loader) }

    /// The list from its first page on, page by page.
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
    /// An item at a time.
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

    /// The items of a page at a time.
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

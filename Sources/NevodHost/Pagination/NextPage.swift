/// Tracks the position in a paginated list: a state machine without I/O.
struct PaginationState: Sendable {
    /// How to request the next page.
    enum Request: Sendable, Hashable {
        /// The endpoint with these query parameters.
        case parameters([String: String])
        /// The server's link to the page, as it wrote it.
        case link(String)
    }

    /// What a loaded page says about the next one.
    struct Page: Sendable {
        var hasMore = false
        var cursor: String?
        var link: String?
    }

    private let style: PaginationStyle
    private let mostPages: Int
    private var step: Result<Request, PaginationError>?
    private var pages = 0
    private var offset = 0
    private var seen: Set<String> = []

    init(_ style: PaginationStyle, mostPages: Int) {
        self.style = style
        self.mostPages = mostPages
        step = .success(.parameters(Self.parameters(style, offset: 0, page: 1, cursor: nil)))
    }

    /// Whether there is a next page; false once ``next()`` has thrown.
    var hasMore: Bool { step != nil }

    /// Returns the request for the next page; nil at the end. Returns the same request until ``receive(_:)`` is called, so that a
    /// page that failed to load is requested again.
    mutating func next() throws(PaginationError) -> Request? {
        guard case .failure(let error) = step else { return try step?.get() }
        // Retrying can't change the outcome.
        step = nil
        throw error
    }

    /// Abandons the rest of the list.
    mutating func end() {
        step = nil
    }

    /// Advances past a page that was loaded. Doesn't throw, because this page is valid; ``next()`` throws if there is a problem
    /// with the page after it.
    mutating func receive(_ page: Page) {
        pages += 1
        step = following(page)
    }

    private mutating func following(_ page: Page) -> Result<Request, PaginationError>? {
        let request: Request
        switch style {
        case .offset(let pageSize):
            guard page.hasMore else { return nil }
            let (sum, isTooLarge) = offset.addingReportingOverflow(pageSize)
            guard !isTooLarge else { return .failure(PaginationError(.tooManyPages(pages))) }
            offset = sum
            request = .parameters(Self.parameters(style, offset: offset, page: 0, cursor: nil))
        case .pageNumber:
            guard page.hasMore else { return nil }
            request = .parameters(Self.parameters(style, offset: 0, page: pages + 1, cursor: nil))
        case .cursor:
            guard page.hasMore else { return nil }
            guard let cursor = page.cursor, !cursor.isEmpty else { return .failure(PaginationError(.noCursor)) }
            guard seen.insert(cursor).inserted else { return .failure(PaginationError(.repeats)) }
            request = .parameters(Self.parameters(style, offset: 0, page: 0, cursor: cursor))
        case .linkHeader:
            guard let link = page.link else { return nil }
            guard seen.insert(link).inserted else { return .failure(PaginationError(.repeats)) }
            request = .link(link)
        }
        guard pages < mostPages else { return .failure(PaginationError(.tooManyPages(mostPages))) }
        return .success(request)
    }

    private static func parameters(_ style: PaginationStyle, offset: Int, page: Int, cursor: String?) -> [String: String] {
        var parameters: [String: String] = [:]
        switch style {
        case .offset(let pageSize): parameters = ["offset": "\(offset)", "limit": "\(pageSize)"]
        case .pageNumber(let pageSize): parameters = ["page": "\(page)", "limit": "\(pageSize)"]
        case .cursor(let cursorKey, let limitKey, let pageSize):
            parameters[cursorKey] = cursor
            if let limitKey, let pageSize { parameters[limitKey] = "\(pageSize)" }
        case .linkHeader(let limitKey, let pageSize):
            if let limitKey, let pageSize { parameters[limitKey] = "\(pageSize)" }
        }
        return parameters
    }
}

/// Fetches the pages that ``PaginationState`` asks for.
struct PageLoader<Item: Decodable & Sendable, PageResponse: Decodable & Sendable, Domain: ServiceDomain>: Sendable {
    struct Page: Sendable {
        let items: [Item]
        let totalCount: Int?
    }

    let provider: NetworkProvider
    let endpoint: String
    let domain: Domain
    let parser: Paginator<Item, PageResponse, Domain>.ResponseParser
    let additionalQuery: [String: String]
    let headers: [String: String]?
    /// The state at the first page.
    let start: PaginationState

    /// Loads the next page; returns it with the state after it, or nil at the end.
    ///
    /// - Throws: ``NetworkError``, ``PaginationError``.
    func load(_ state: PaginationState) async throws -> (Page, PaginationState)? {
        var state = state
        guard let step = try state.next() else { return nil }
        let request = try request(step)
        let response = try await provider.success(of: request, nil)
        let body = try await provider.body(of: response)
        let content = try route().decode(response, body, with: provider.config.decoder)
        var next = PaginationState.Page(hasMore: parser.hasMore(content), cursor: parser.nextCursor?(content))
        next.link = LinkHeader.next(in: response.headers).map { request.resolving($0) }
        state.receive(next)
        return (Page(items: parser.extractItems(content), totalCount: parser.totalCount?(content)), state)
    }

    private func request(_ step: PaginationState.Request) throws -> HTTPRequest {
        switch step {
        case .parameters(let parameters):
            return try route(additionalQuery.merging(parameters) { _, own in own }).makeRequest(with: provider.config)
        case .link(let url):
            var request = try route().makeRequest(with: provider.config)
            let origin = request.origin
            do throws(InvalidRequestError) { try request.redirect(to: url, leavingOut: []) } catch {
                throw PaginationError(.unusableLink(error.problem))
            }
            // The credentials and the caller's headers are meant for this origin only.
            guard request.origin == origin else { throw PaginationError(.otherOrigin(request.origin)) }
            return request
        }
    }

    private func route(_ parameters: [String: String]? = nil) -> SimpleGetRoute<PageResponse, Domain> {
        SimpleGetRoute(endpoint: endpoint, domain: domain, queryParameters: parameters, headers: headers)
    }
}

/// A paginated list that can't be loaded to its end.
public struct PaginationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem with the next page.
    public enum Problem: Sendable, Hashable {
        /// The next page that the server names was loaded already.
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

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
            // Credentials are bound to the origin, and the caller's headers are meant for it only.
            guard request.origin == origin else { throw PaginationError(.otherOrigin(request.origin)) }
            return request
        }
    }

    private func route(_ parameters: [String: String]? = nil) -> SimpleGetRoute<PageResponse, Domain> {
        SimpleGetRoute(endpoint: endpoint, domain: domain, queryParameters: parameters, headers: headers)
    }
}

import NevodHost
import NevodSupport

/// Gets the page at an address, with the command's transport and without credentials.
struct SitePageReader {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    private static let mostRedirects = 10
    private static let longest = Duration.seconds(60)

    func page(at url: String) async throws -> SitePage {
        let arguments = arguments.with(operands: [url])
        var request = try RequestBuilder(arguments: arguments).build().request
        try request.setHeader("Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1")
        var options = try SessionBuilder(arguments: arguments).options()
        options.redirects = .follow(limit: Self.mostRedirects)
        options.timeout = Self.longest
        let log = HopLog()
        // Sites set a cookie on the first page, and look for it on the page that they redirect to.
        let keeper = CookieKeeper([])
        let provider = NetworkProvider(
            session: CookieTransport(HopTransport(session: session, log: log, console: console), keeper),
            interceptor: InterceptorChain([]), logger: RequestLog(console: console))
        let (asked, limits) = (request, options)
        return try await Interruption.shared.cancelling(on: session.executor) {
            let response = try await provider.send(asked, limits)
            guard let given = SiteAddress(asked.url), let address = SiteAddress(log.last?.request.url ?? asked.url) else {
                throw SiteLoginError("\(ShownURL.text(url)) is not the address of a page")
            }
            return SitePage(
                given: given, address: address, status: response.status, challenges: AuthChallenge.all(of: response.headers),
                cookies: keeper.cookies.map(\.name), html: try await Self.html(of: response, at: address))
        }
    }

    private static func html(of response: HTTPResponse, at address: SiteAddress) async throws -> HTMLPage {
        let bytes: [UInt8]
        do throws(TransportError) { bytes = try await response.body.collect(upTo: SitePage.largest) } catch {
            guard case .bodyTooLarge = error.code else { throw error }
            throw SiteLoginError(
                "the page \(address) is larger than 1 MiB, so it is not a login page; give the address of the login page, or "
                    + SiteLoginError.byHand, exitCode: ExitCode.of(error))
        }
        // A document of another type has no login form.
        guard ["text/html", "application/xhtml+xml", nil].contains(response.mediaType) else {
            return [].withUnsafeBytes { HTMLPage(bytes: $0) }
        }
        return bytes.withUnsafeBytes { HTMLPage(bytes: $0) }
    }
}

import NevodHost
import NevodSupport

/// The page that the address given to `login` led to.
struct SitePage {
    /// The largest page that is read, in bytes.
    static let largest = 1 << 20

    /// The address that was typed.
    let given: SiteAddress
    /// The address of the page, behind all redirects.
    let address: SiteAddress
    let status: Int
    let challenges: [AuthChallenge]
    /// The names of the cookies that the responses set.
    let cookies: [String]
    let html: HTMLPage

    /// The address of the page for settings.
    var lasting: SiteAddress { address.withoutVisit(from: given) }

    /// The typed address, over TLS where the site led there: http and https at their own ports of one host are one site. Nil if
    /// redirects led to another origin.
    var asked: SiteAddress? {
        let (from, to) = (given.origin, address.origin)
        if from == to { return given }
        let isUpgrade =
            from.scheme == .http && to.scheme == .https && from.host == to.host && from.isAtDefaultPort && to.isAtDefaultPort
        return isUpgrade ? SiteAddress("\(to)\(given.target)") : nil
    }

    /// Whether redirects led to another origin than the typed one.
    var isElsewhere: Bool { asked == nil }

    /// Whether a redirect of the site led from the typed address to another page.
    var isRedirected: Bool { asked.map { $0.path != address.path } ?? false }
}

extension Origin {
    /// Whether the port is the one of a URL without a port.
    fileprivate var isAtDefaultPort: Bool { port == (scheme == .https ? 443 : 80) }
}

/// Gets the page at an address, with the transport of the command and without credentials.
struct SitePageReader {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    private static let mostRedirects = 10
    private static let longest = Duration.seconds(60)

    func page(at url: String) async throws -> SitePage {
        let arguments = arguments.with(operands: [url])
        var request = try RequestBuilder(arguments: arguments).request()
        try request.setHeader("Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1")
        var options = try SessionBuilder(arguments: arguments).options()
        options.redirects = .follow(limit: Self.mostRedirects)
        options.timeout = Self.longest
        let log = HopLog()
        // Sites set a cookie at the first page, and look for it at the one that they redirect to.
        let keeper = CookieKeeper([])
        let provider = NetworkProvider(
            session: CookieTransport(HopTransport(session: session, log: log, console: console), keeper),
            interceptor: InterceptorChain([]), logger: RequestLog(console: console))
        let (asked, limits) = (request, options)
        return try await Interruption.shared.cancelling(on: session.executor) {
            let response = try await provider.send(asked, limits)
            guard let given = SiteAddress(asked.url), let address = SiteAddress(log.last?.request.url ?? asked.url) else {
                throw DiscoveryError("\(ShownURL.text(url)) is no address of a page")
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
            throw DiscoveryError(
                "the page \(address) is larger than 1 MiB, and is no page of a login; give the address of the login page, or "
                    + DiscoveryError.byHand, exitCode: ExitCode.of(error))
        }
        // A document of another type has no form of a login.
        guard ["text/html", "application/xhtml+xml", nil].contains(response.mediaType) else {
            return [].withUnsafeBytes { HTMLPage(bytes: $0) }
        }
        return bytes.withUnsafeBytes { HTMLPage(bytes: $0) }
    }
}

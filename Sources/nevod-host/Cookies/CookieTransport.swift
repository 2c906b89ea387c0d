import NevodHost
import NevodSupport

/// Keeps the cookies of `-b` and `-c`, and adds them to each request that they are for (RFC 6265 §5.4).
///
/// A transport, not an interceptor: what interceptors write belongs to the first origin, but a cookie belongs to its own domain,
/// even after a redirect.
final class CookieTransport: HTTPTransport {
    private let session: any HTTPTransport
    private let keeper: CookieKeeper

    init(_ session: any HTTPTransport, _ keeper: CookieKeeper) {
        self.session = session
        self.keeper = keeper
    }

    var executor: (any TaskExecutor)? { session.executor }

    var decodesContent: Bool { session.decodesContent }

    /// Puts the jar's cookies before the cookies of `-b` and `-H`, in one line: a request has only one (RFC 6265 §5.4).
    func prepare(_ request: inout HTTPRequest) {
        session.prepare(&request)
        let (now, bare) = (HostClock.system.now, request)
        guard let line = keeper.jar.withLock({ $0.cookieLine(for: bare, now: now) }) else { return }
        let typed = request.headers.values(of: "Cookie").filter { !$0.isEmpty }
        // Can't fail: all bytes of a cookie are valid in a header line.
        try? request.setHeader("Cookie", ([line] + typed).joined(separator: "; "))
    }

    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        let response = try await session.send(request, options)
        if response.headers.contains("Set-Cookie") {
            keeper.jar.withLock { $0.store(setCookieLinesOf: response, from: request, now: HostClock.system.now) }
        }
        return response
    }
}

/// The cookies of `-b` and `-c`: one jar for all requests with the same values of these flags.
final class SharedCookies: Sendable {
    private let options: CookieOptions
    private let jar = Locked<CookieKeeper?>(nil)

    init(_ options: CookieOptions) { self.options = options }

    /// Returns a transport that adds the cookies, or the given transport if cookies aren't kept.
    func transport(_ transport: any HTTPTransport, for request: HTTPRequest) throws -> any HTTPTransport {
        let keeper = try jar.withLock { jar in
            if jar == nil { jar = try options.keeper(for: request) }
            return jar
        }
        return keeper.map { CookieTransport(transport, $0) } ?? transport
    }

    /// Writes the file of `-c`.
    func save() throws {
        if let keeper = jar.withLock({ $0 }) { try options.save(keeper) }
    }
}

/// A jar of cookies that several requests share.
final class CookieKeeper: Sendable {
    let jar: Locked<CookieJar>

    init(_ cookies: [Cookie]) { jar = Locked(CookieJar(cookies)) }

    /// The cookies in the order of their creation, without expired ones.
    var cookies: [Cookie] {
        let now = HostClock.system.now
        return jar.withLock { Array($0) }.filter { cookie in cookie.expires.map { $0 > now } ?? true }
    }
}

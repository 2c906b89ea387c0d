import NevodHost
import NevodSupport

/// Keeps the cookies of `-b` and `-c`, and puts them on each request that they are for (RFC 6265 §5.4).
///
/// A transport and not an interceptor: what interceptors write belongs to the first origin, and a cookie to its own domain, also after
/// a redirect.
final class CookieTransport: HTTPTransport {
    private let session: any HTTPTransport
    private let keeper: CookieKeeper

    init(_ session: any HTTPTransport, _ keeper: CookieKeeper) {
        self.session = session
        self.keeper = keeper
    }

    var executor: (any TaskExecutor)? { session.executor }

    var decodesContent: Bool { session.decodesContent }

    /// Puts the jar's cookies before those of `-b` and `-H`, in one line: a request has only one (RFC 6265 §5.4).
    func prepare(_ request: inout HTTPRequest) {
        session.prepare(&request)
        let (now, bare) = (HostClock.system.now, request)
        guard let line = keeper.jar.withLock({ $0.cookieLine(for: bare, now: now) }) else { return }
        let typed = request.headers.values(of: "Cookie").filter { !$0.isEmpty }
        // A cookie has no byte that a line could not have.
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

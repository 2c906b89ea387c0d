import NevodHost
import NevodSupport

/// `-e ";auto"`: puts the redirecting URL into the Referer line of each redirected request (RFC 9110 §10.1.3).
///
/// Another origin sees only the origin, since the path and the query may be secret. (curl sends the whole URL.)
final class RefererInterceptor: RequestInterceptor {
    private struct State {
        var current: HTTPRequest?
        var previous: HTTPRequest?
    }

    private let state = Locked(State())

    func adapt(_ exchange: inout Exchange) async throws {
        let request = exchange.request
        let previous = state.withLock { state in
            if let current = state.current, current.url != request.url { state.previous = current }
            state.current = request
            return state.previous
        }
        guard let previous else { return }
        if previous.origin == request.origin {
            try exchange.request.setHeader("Referer", previous.url)
        } else if previous.origin.scheme == .https, request.origin.scheme == .http {
            exchange.request.removeHeader("Referer")
        } else {
            try exchange.request.setHeader("Referer", "\(previous.origin)/")
        }
    }
}

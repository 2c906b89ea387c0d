/// Follows redirects by the rules of RFC 9110 §15.4, one request at a time: a state machine without I/O.
///
/// Credentials stay at the origin (RFC 6454) that they were meant for. Once a chain has left it, they are gone for the rest of
/// that chain, also when it comes back: what comes back was sent by the other origin.
struct RedirectChain: Sendable {
    enum Step {
        /// The answer is the end of the chain.
        case finished
        /// The caller's request for the next hop, not yet authorised.
        case follow(HTTPRequest)
    }

    private let policy: RedirectPolicy
    private(set) var followed = 0
    /// Whether tokens and schemes may still write on this chain's requests.
    private(set) var mayCarryCredentials = true

    init(_ policy: RedirectPolicy) {
        self.policy = policy
    }

    /// - Parameters:
    ///   - unauthorized: the request of this hop as the caller, or the last call of this, made it.
    ///   - sent: the same as it went out, with everything that others wrote.
    mutating func next(
        after response: HTTPResponse, to unauthorized: HTTPRequest, sent: HTTPRequest
    ) throws(RedirectError) -> Step {
        guard case .follow(let limit) = policy, [301, 302, 303, 307, 308].contains(response.status),
            let location = response.headers["Location"]
        else { return .finished }
        let method = Self.method(after: response.status, unauthorized.method)
        // A body that can be read only once has been read: the answer is the redirect itself.
        guard method != unauthorized.method || unauthorized.body.isReplayable else { return .finished }
        guard followed < limit else { throw RedirectError(.tooMany(limit)) }

        let url = sent.resolving(location)
        var next = unauthorized
        do throws(InvalidRequestError) { try next.redirect(to: url, leavingOut: sent.writtenQueryItems) } catch {
            throw RedirectError(.unusable(error.problem))
        }
        if method != unauthorized.method {
            next.method = method
            next.body = .none
            for field in Self.contentFields { next.removeHeader(field) }
        }
        if next.origin != unauthorized.origin {
            mayCarryCredentials = false
            next.stripCredentials()
            // The caller's Host was meant for the first origin.
            next.removeHeader("Host")
        }
        followed += 1
        return .follow(next)
    }

    /// RFC 9110 §15.4.2 and §15.4.3 allow what everybody does, POST to GET; §15.4.4 asks for GET, but HEAD stays HEAD.
    private static func method(after status: Int, _ method: HTTPMethod) -> HTTPMethod {
        switch (status, method) {
        case (301, .post), (302, .post): .get
        case (303, .head): .head
        case (303, _): .get
        default: method
        }
    }

    /// What describes a body that isn't sent any more (RFC 9110 §15.4).
    private static let contentFields = [
        "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Range", "Content-MD5",
        "Content-Digest", "Repr-Digest", "Digest", "Last-Modified", "Expect",
    ]
}

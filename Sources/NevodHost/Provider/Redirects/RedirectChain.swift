internal import NevodSupport

/// Follows the redirects of one request by the rules of RFC 9110 §15.4: a state machine without I/O.
///
/// Credentials are sent only to the first origin (RFC 6454). Once a chain has left it, they are removed for the rest of the
/// chain, even if a redirect leads back, because another origin chose that URL.
struct RedirectChain: Sendable {
    enum Step {
        /// The response is final.
        case finished
        /// The request for the next hop, not yet authorized.
        case follow(HTTPRequest)
    }

    private let policy: RedirectPolicy
    private(set) var followed = 0
    /// Whether tokens and schemes may still edit the chain's requests.
    private(set) var mayCarryCredentials = true
    /// The query items that tokens and schemes wrote at any hop: a server may repeat the URL that it received, as in `?next=…`.
    private var credentials = CredentialSearch()

    init(_ policy: RedirectPolicy) {
        self.policy = policy
    }

    /// Returns the next step after a response.
    ///
    /// - Parameters:
    ///   - response: the response to this hop.
    ///   - unauthorized: this hop's request before authorization: the caller's request, or the previous step's.
    ///   - sent: the same request as it was sent, with all edits.
    mutating func next(
        after response: HTTPResponse, to unauthorized: HTTPRequest, sent: HTTPRequest
    ) throws(RedirectError) -> Step {
        guard case .follow(let limit) = policy, [301, 302, 303, 307, 308].contains(response.status),
            let location = response.location
        else { return .finished }
        let method = Self.method(after: response.status, unauthorized.method)
        // The body can't be read again, so the redirect itself is the response.
        guard method != unauthorized.method || unauthorized.body.isReplayable else { return .finished }
        guard followed < limit else { throw RedirectError(.tooMany(limit)) }

        credentials.add(sent)
        let url = sent.resolving(location)
        var next = unauthorized
        do throws(InvalidRequestError) { try next.redirect(to: url, leavingOut: sent.credentialQueryItems) } catch {
            throw RedirectError(.unusable(error.problem))
        }
        if method != unauthorized.method {
            next.method = method
            next.body = .none
            for field in Self.contentFields { next.removeHeader(field) }
        }
        if method == unauthorized.method, unauthorized.body.length != 0, unauthorized.origin.scheme == .https,
            next.origin.scheme == .http
        {
            throw RedirectError(.unusable("it leads from https to http, where the request's body would be sent unencrypted"))
        }
        if next.origin != unauthorized.origin { leaveOrigin(&next) }
        if !mayCarryCredentials { try removeRepeatedCredentials(from: &next) }
        followed += 1
        return .follow(next)
    }

    private mutating func leaveOrigin(_ next: inout HTTPRequest) {
        mayCarryCredentials = false
        next.stripCredentials()
        // The caller's Host applies only to the first origin.
        next.removeHeader("Host")
    }

    /// Removes query items that would give another origin a credential, in whatever encoding.
    private func removeRepeatedCredentials(from next: inout HTTPRequest) throws(RedirectError) {
        guard !credentials.isEmpty else { return }
        next.removeQueryItems { credentials.isFound(in: $0) }
        // Without the credential, a path or host would name another resource.
        guard !credentials.isFound(in: next.url.utf8) else {
            throw RedirectError(.unusable("its location repeats a credential of the request outside of the query"))
        }
    }

    /// The method for the next hop. RFC 9110 §15.4.2 and §15.4.3 allow changing POST to GET, as all clients do; §15.4.4 requires
    /// GET, except that HEAD stays HEAD.
    private static func method(after status: Int, _ method: HTTPMethod) -> HTTPMethod {
        switch (status, method) {
        case (301, .post), (302, .post): .get
        case (303, .head): .head
        case (303, _): .get
        default: method
        }
    }

    /// Fields that describe the body, removed together with it (RFC 9110 §15.4).
    private static let contentFields = [
        "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Range", "Content-MD5",
        "Content-Digest", "Repr-Digest", "Digest", "Last-Modified", "Expect",
    ]
}

/// Whether redirects are followed.
public enum RedirectPolicy: Sendable, Hashable {
    /// Returns a redirect as the response.
    case none
    /// Follows up to `limit` redirects; one more fails the request.
    case follow(limit: Int)
}

extension HTTPResponse {
    /// The reference in `Location` (RFC 9110 §10.2.2); nil if there is none. Bytes that aren't UTF-8 are percent-encoded, so that
    /// the server gets back the bytes that it sent.
    var location: String? {
        headers.bytes(of: "Location").map { bytes in
            if let text = String(validating: bytes, as: UTF8.self) { return text }
            var encoded: [UInt8] = []
            for byte in bytes {
                if byte < 0x80 { encoded.append(byte) } else { PercentEncoding.append(byte, to: &encoded) }
            }
            return String(decoding: encoded, as: UTF8.self)
        }
    }
}

extension HTTPRequest {
    /// The absolute URL of `Location` in a response to this request (RFC 9110 §10.2.2), as the server wrote it; nil if there is
    /// none.
    package func redirectURL(of response: HTTPResponse) -> String? { response.location.map(resolving) }
}

public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Sends requests with Foundation. For programs that already have a `URLSession`, with its proxy and connection limits.
///
/// Requests are sent by a session derived from this one. It has the same configuration, but no cookies, cache or stored
/// credentials, which the host manages itself. Its delegate refuses redirects, which `URLSession` would follow with the
/// credentials still on the request. It is created at the first request, and released after this session has been deallocated,
/// when the next session is first used. This session's delegate is not called, and invalidating this session has no effect.
///
/// On Linux, Foundation changes requests and responses. **A signer should use ``CurlSession``**, which sends what was signed:
/// - Header lines of one name are merged into one, and the order of the lines is lost. (`URLRequest.setValue` and
///   `addValue` also rewrite names, `x-key` to `X-Key`; this transport keeps them as they are.)
/// - Dot segments of a path are resolved, `[`, `]` and a lone `%` are percent-encoded, and methods like `get` are sent in
///   capitals.
/// - Of several lines of one name in a response, such as Set-Cookie, some are merged and some are lost; all are sorted by name.
///   The HTTP version is unknown and reported as 1.1; the reason phrase is unknown and reported as empty.
/// - A redirect without a usable Location is returned without its body.
/// - A body can't be sent with GET.
///
/// Other limits:
/// - ``TransferOptions/timeout`` applies to the whole transfer; there is no separate timeout for the connection.
/// - ``TransferOptions/sendsOnce`` has no effect: Foundation decides whether a request is repeated when a kept connection closes.
/// - A stream is collected in memory before it is sent: 64 MiB at most.
/// - A transfer can't be paused, so a streamed response has no back-pressure: bytes that its reader has not taken yet are kept
///   in memory, and the transfer fails if they exceed 64 MiB.
/// - On Linux, all sessions of a process receive on one queue. A server that sends faster than that queue reads occupies it:
///   other transfers wait, and a cancelled transfer returns at once, but its bytes are received until the server pauses.
/// - On Linux, a child process that is started during a transfer inherits its connection, which then stays open until that
///   process exits.
/// - Metrics contain the times of the first byte and of completion, and the sizes of the bodies.
extension URLSession: HTTPTransport {
    /// True: Foundation decompresses what a server compresses.
    public var decodesContent: Bool { true }

    /// Adds the lines that Foundation would add to each request. Requests an uncompressed response unless the request says
    /// otherwise; a compressed response is returned decompressed.
    public func prepare(_ request: inout HTTPRequest) {
        DerivedSession.of(self).prepare(&request)
    }

    public func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        try await DerivedSession.of(self).send(request, options)
    }
}

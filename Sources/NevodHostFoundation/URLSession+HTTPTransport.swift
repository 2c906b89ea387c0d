public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Sends through Foundation: for programs that have a `URLSession` already, with its proxy and its connection limits.
///
/// What goes out is sent by a session derived from this one: the same configuration, without cookies, cache and stored
/// credentials, which are the host's work here, and with a delegate that refuses redirects, which `URLSession` would
/// follow with the credentials still on. It is made at the first request and kept; it goes after its own session has
/// gone, the next time that a session is new here. This session's delegate hears nothing, and its invalidation stops
/// nothing.
///
/// On Linux, Foundation changes requests and answers. **A signer should use ``CurlSession``**, which sends what was signed:
/// - Header lines of one name are merged into one, and the order of the lines is lost. (`URLRequest.setValue` and
///   `addValue` also rewrite names, `x-key` to `X-Key`; this transport keeps them as they are.)
/// - Dots in a path are resolved, a `[`, a `]` and a lone `%` are percent-encoded, and methods like `get` are written in
///   capitals.
/// - Of an answer's lines of one name, such as Set-Cookie, some are merged and some are lost; all are sorted by name here.
///   The HTTP version is unknown, and reported as 1.1; so is the reason phrase, and reported as empty.
/// - A redirect without a usable Location comes without its body.
/// - A body can't be sent with GET.
///
/// And these are its limits:
/// - ``TransferOptions/timeout`` counts; there is no time limit for the connection alone.
/// - A stream is put into memory before it is sent: 64 MiB at most.
/// - A transfer can't be paused, so a streamed answer exerts no back-pressure: what its reader has not taken yet is kept,
///   and when that is more than 64 MiB, the transfer fails.
/// - On Linux, all sessions of a process receive on one queue, and a server that delivers faster than that queue reads keeps
///   it to itself: the others wait, and a cancelled transfer returns at once but goes on being received until there is a gap.
/// - On Linux, a program that is started during a transfer inherits its connection, which then stays open as long as that
///   program runs.
/// - Metrics hold the times of the first byte and of the end, and the bytes of the bodies.
extension URLSession: HTTPTransport {
    /// Writes the lines that Foundation adds to every request as well. Answers are asked for uncompressed, unless the
    /// request says otherwise; a compressed answer comes decompressed.
    public func prepare(_ request: inout HTTPRequest) {
        DerivedSession.of(self).prepare(&request)
    }

    public func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        try await DerivedSession.of(self).send(request, options)
    }
}

public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A transport by Foundation whose servers must have pinned keys. (`CurlSession.Configuration.pins` does the same for a
/// `CurlSession`, on every system.)
///
/// Everything else is as with `URLSession: HTTPTransport`.
public final class PinnedURLSession: HTTPTransport {
    private let session: DerivedSession

    /// - Parameters:
    ///   - session: the session whose configuration is used.
    ///   - pins: the keys of servers.
    /// - Throws: `TransportError` of code `tlsConfiguration` on Linux, where Foundation doesn't ask its delegate about certificates,
    ///   and shows none of them: a pin would never be compared. Use a `CurlSession` there.
    public init(_ session: URLSession = .shared, pins: PinnedKeys) throws(TransportError) {
        #if canImport(Security)
            self.session = DerivedSession(session, pins: pins)
        #else
            throw TransportError(.tlsConfiguration, "URLSession can't pin keys on Linux; use a CurlSession with pins")
        #endif
    }

    /// True: Foundation decompresses what a server compresses.
    public var decodesContent: Bool { true }

    public func prepare(_ request: inout HTTPRequest) {
        session.prepare(&request)
    }

    public func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        try await session.send(request, options)
    }
}

public import NevodHost
internal import NevodSupport

#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Sends requests with Foundation. For programs that already have a `URLSession`, with its proxy and connection limits.
///
/// Requests are sent by a session derived from this one. It has the same configuration, but no cookies, cache or stored
/// credentials, which the host manages itself. Its delegate refuses redirects, which `URLSession` would follow with the
/// credentials still on the request. The derived session is created at the first request. It is released once this session has
/// been deallocated and another one is used for the first time. This session's delegate is not called, and invalidating this
/// session has no effect.
///
/// On Linux, Foundation changes requests and responses. **A signer should use ``CurlSession``**, which sends what was signed:
/// - Header lines of one name are merged into one, and the order of the lines is lost. (`URLRequest.setValue` and
///   `addValue` also rewrite names, `x-key` to `X-Key`; this transport keeps them as they are.)
/// - Dot segments of a path are resolved, `[`, `]` and a lone `%` are percent-encoded, and methods like `get` are sent in
///   capitals.
/// - Response lines of one name, such as Set-Cookie, are partly merged and partly lost; all lines are sorted by name.
///   The HTTP version is unknown and reported as 1.1; the reason phrase is unknown and reported as empty.
/// - A redirect without a usable Location is returned without its body.
/// - A body can't be sent with GET.
///
/// Other limits:
/// - ``TransferOptions/timeout`` applies to the whole transfer; there is no separate timeout for the connection.
/// - ``TransferOptions/sendsOnce`` has no effect: Foundation decides whether to repeat a request when a kept connection closes.
/// - A stream is collected in memory before it is sent: 64 MiB at most.
/// - A transfer can't be paused, so a streamed response has no back-pressure: bytes that its reader has not taken yet are kept
///   in memory, and the transfer fails if they exceed 64 MiB.
/// - On Linux, all sessions of a process receive on one queue. A server that sends faster than that queue reads occupies it.
///   Other transfers then wait. A cancelled transfer returns at once, but its bytes are received until the server pauses.
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

/// Sends requests on behalf of a user's session: see `URLSession: HTTPTransport`.
final class DerivedSession: Sendable {
    private weak let original: URLSession?
    private let session: URLSession
    private let delegate: TransferDelegate
    private let pins: PinnedKeys
    /// The header lines that Foundation adds to each request that lacks them.
    private let addedLines: [(name: String, value: String)]

    private static let all = Locked<[ObjectIdentifier: DerivedSession]>([:])

    /// Returns the derived session of `original`, and creates it at first use. A `URLSession` can't hold a reference to its
    /// derived session, so a table does. When another derived session is created, the entries of deallocated sessions are
    /// removed.
    static func of(_ original: URLSession) -> DerivedSession {
        let id = ObjectIdentifier(original)
        let (derived, outlived) = all.withLock { all in
            if let known = all[id], known.original === original { return (known, [DerivedSession]()) }
            let outlived = all.values.filter { $0.original == nil }
            all = all.filter { $0.value.original != nil }
            let derived = DerivedSession(original)
            all[id] = derived
            return (derived, outlived)
        }
        withExtendedLifetime(outlived) {}  // Deallocates them outside the lock.
        return derived
    }

    /// - Parameter pins: need a platform where a session asks its delegate about a server's certificate.
    init(_ original: URLSession, pins: PinnedKeys = PinnedKeys()) {
        self.original = original
        self.pins = pins
        delegate = TransferDelegate(pins)
        // On Linux, `configuration` is a copy already; elsewhere, the session's own must not be changed.
        let configuration = original.configuration.copy() as? URLSessionConfiguration ?? original.configuration
        let configured = (configuration.httpAdditionalHeaders ?? [:]).compactMap { name, value in
            (name as? String).map { (name: $0, value: "\(value)") }
        }
        var lines = [
            (name: "Accept", value: "*/*"), ("Accept-Encoding", "identity"), ("Connection", "keep-alive"),
            ("User-Agent", "NevodHost"),
        ]
        if let language = Locale.current.language.languageCode?.identifier { lines.append(("Accept-Language", language)) }
        addedLines = configured.sorted { $0.name < $1.name } + lines
        configuration.httpAdditionalHeaders = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCredentialStorage = nil
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    deinit {
        // Foundation keeps a session and its delegate alive until this call. Transfers under way complete normally.
        session.finishTasksAndInvalidate()
    }

    /// Whether Foundation has finished all tasks.
    var isIdle: Bool { delegate.isIdle }

    func prepare(_ request: inout HTTPRequest) {
        request.materialize()
        for line in addedLines where !request.headers.contains(line.name) {
            request.headers.add(line.name, line.value, by: .host)
        }
        if request.method == .post, request.body.length != 0, !request.headers.contains("Content-Type") {
            request.headers.add("Content-Type", "application/x-www-form-urlencoded", by: .host)
        }
    }

    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        try pins.check(request.origin)
        var request = request
        prepare(&request)
        let body = try await request.body.collectForUpload()
        let transfer = URLTransfer(options, uploading: body.count)
        let task = session.dataTask(with: try URLRequest(sending: request, body))
        delegate.add(transfer, task, informing: RequestDelegate.current)
        return try await transfer.run(task)
    }
}

/// Forwards each task's events to its transfer, and refuses redirects and challenges, which the host handles itself. It is the
/// delegate of the session, since Linux ignores the delegate of a task.
final class TransferDelegate: NSObject, URLSessionDataDelegate {
    private struct Entry {
        let transfer: URLTransfer
        /// The delegate that was passed with the request.
        let informed: (any URLSessionTaskDelegate)?
    }

    private let entries = Locked<[Int: Entry]>([:])
    private let pins: PinnedKeys

    init(_ pins: PinnedKeys) {
        self.pins = pins
    }

    /// Registers a transfer until its task has finished.
    ///
    /// - Parameter informed: is told of sent bytes and of the end, but decides nothing.
    func add(_ transfer: URLTransfer, _ task: URLSessionTask, informing informed: (any URLSessionTaskDelegate)?) {
        let id = task.taskIdentifier
        entries.withLock { $0[id] = Entry(transfer: transfer, informed: informed) }
    }

    var isIdle: Bool { entries.withLock { $0.isEmpty } }

    private func entry(of task: URLSessionTask) -> Entry? {
        let id = task.taskIdentifier
        return entries.withLock { $0[id] }
    }

    private func transfer(of task: URLSessionTask) -> URLTransfer? {
        entry(of: task)?.transfer
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        entry(of: task)?.informed?.urlSession(
            session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // The challenge arrives after the whole body of a 401, and the task can continue only with a credential.
            transfer(of: task)?.finish(.success(()))
            completionHandler(.cancelAuthenticationChallenge, nil)
        #else
            let space = challenge.protectionSpace
            guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
                return completionHandler(.rejectProtectionSpace, nil)
            }
            guard pins.allow(serverOf: space) else {
                transfer(of: task)?.finish(.failure(PinnedKeys.mismatch(at: space.host)))
                return completionHandler(.cancelAuthenticationChallenge, nil)
            }
            completionHandler(.performDefaultHandling, nil)
        #endif
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse { transfer(of: dataTask)?.receiveHead(response) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let id = task.taskIdentifier
        guard let entry = entries.withLock({ $0.removeValue(forKey: id) }) else { return }
        let transfer = entry.transfer
        entry.informed?.urlSession(session, task: task, didCompleteWithError: error)
        if let error { return transfer.finish(.failure(TransportError(error))) }
        // For a redirect without a Location, `didReceive response` has not been called.
        if let response = task.response as? HTTPURLResponse { transfer.receiveHead(response) }
        transfer.finish(.success(()))
    }
}

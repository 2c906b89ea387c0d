internal import Glibc
internal import NevodPluginABI
internal import NevodSupport

/// Serves a redirect URI on loopback (RFC 8252 §7.3) until it is stopped, and passes on the requests for it. Any program on this
/// machine can send one, and with a form any web page; the flow has to check that it came from its own browser session.
final class LoopbackListener: Sendable {
    /// A request for the redirect URI.
    struct Redirect: Sendable {
        /// With its query.
        let url: String
        /// The form that was posted.
        let body: Secret?
    }

    private struct Arrivals {
        var redirects: [Redirect] = []
        var waiter: Waiter<Redirect>?
    }

    // Limit silent and slow connections, so that they can't block the browser's.
    private static let mostConnections = 16
    static let connectionTimeout: Duration = .seconds(2)
    /// The unread redirects that are kept. Several, so that another program's don't displace the browser's.
    private static let mostRedirects = 16

    let url: String
    private let uri: RedirectURI
    private let base: String
    /// The valid values of Host.
    private let authorities: [String]
    private let listeners: [Int32]
    private let timeout: Duration
    private let arrivals = Locked(Arrivals())
    private let isStopped = Locked(false)

    /// - Parameter timeout: limits the arrival of a request's head; and again of its body.
    init(_ uri: RedirectURI, timeout: Duration = LoopbackListener.connectionTimeout) throws(ListenError) {
        self.uri = uri
        self.timeout = timeout
        let (sockets, port) = try LoopbackSockets.open(uri)
        listeners = sockets
        let full = "\(uri.host.rawValue):\(port)"
        // Browsers leave out the default port.
        authorities = port == 80 ? [uri.host.rawValue, full] : [full]
        base = "http://\(authorities[0])"
        url = "\(base)\(uri.path)"
        // A separate thread, because `serve` blocks, for up to a quarter of a second in each poll.
        guard SystemThread.start({ self.serve() }) else {
            for socket in sockets { close(socket) }
            throw ListenError(isTransient: true, description: "can't start a thread for the browser's redirect")
        }
    }

    /// Waits for the next request. Supports one caller at a time.
    func redirect(until deadline: ContinuousClock.Instant?) async throws -> Redirect {
        let waiter = Waiter<Redirect>()
        arrivals.withLock { arrivals in
            if arrivals.redirects.isEmpty {
                arrivals.waiter = waiter
            } else {
                waiter.resume(with: .success(arrivals.redirects.removeFirst()))
            }
        }
        return try await waiter.value(until: deadline)
    }

    /// Releases the port at once; the thread follows.
    func stop() {
        isStopped.withLock { isStopped in
            guard !isStopped else { return }
            isStopped = true
            // The thread closes the sockets only after it has seen the flag, so these are not yet another file's.
            for listener in listeners { shutdown(listener, Int32(SHUT_RDWR)) }
        }
    }

    private func arrived(_ target: String, _ form: Secret?) {
        let redirect = Redirect(url: base + target, body: form)
        arrivals.withLock { arrivals in
            if arrivals.waiter?.resume(with: .success(redirect)) != true, arrivals.redirects.count < Self.mostRedirects {
                arrivals.redirects.append(redirect)
            }
            arrivals.waiter = nil
        }
    }

    private func serve() {
        var connections: [RedirectConnection] = []
        defer { for listener in listeners { close(listener) } }
        while !isStopped.withLock(\.self) {
            var polls = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            if connections.count < Self.mostConnections {
                polls += listeners.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            }
            poll(&polls, nfds_t(polls.count), 250)
            let ready = polls[connections.count...].filter { $0.revents != 0 }.map(\.fd)
            let known = zip(connections, polls).map { (connection: $0, isReadable: $1.revents != 0) }
            connections = known.filter { !isFinished($0.connection, isReadable: $0.isReadable) }.map(\.connection)
            for listener in ready where !isStopped.withLock(\.self) {
                let descriptor = accept(listener, nil, nil)
                if descriptor >= 0 {
                    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                    connections.append(RedirectConnection(descriptor, timeout: timeout))
                } else {
                    // Out of descriptors, for example: a pause keeps this loop from spinning.
                    poll(nil, 0, 50)
                }
            }
        }
    }

    /// Reads what there is, and responds if the request is complete: with an error to other requests, such as a browser's for an icon.
    private func isFinished(_ connection: RedirectConnection, isReadable: Bool) -> Bool {
        guard isReadable else { return connection.deadline < .now }
        switch connection.receive(parsed) {
        case .incomplete: return connection.deadline < .now
        case .closed: return true
        case .refused(let refusal):
            connection.respond(refusal.rawValue, refusal.reason, "There is nothing here.")
            return true
        case .complete(let target, let form):
            connection.respond(200, "OK", "Done. You can close this window and go back to the program.")
            arrived(target, form)
            return true
        }
    }

    private func parsed(_ bytes: UnsafeRawBufferPointer) -> Result<RedirectHead, RedirectHead.Refusal> {
        do throws(RedirectHead.Refusal) {
            return .success(
                try RedirectHead(bytes, uri, authorities: authorities, largestBody: Int(NEVOD_LIMIT_FLOW_BODY)))
        } catch {
            return .failure(error)
        }
    }
}

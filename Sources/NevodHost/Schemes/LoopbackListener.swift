internal import Glibc
internal import NevodPluginABI
internal import NevodSupport

/// Listens at a redirect URI on loopback (RFC 8252 §7.3) until it is stopped, and passes on the requests that arrive there. Any
/// program on this machine can send such a request, and any web page can post a form. The flow has to check that the request came
/// from its own browser session.
final class LoopbackListener: Sendable {
    /// A request for the redirect URI.
    struct Redirect: Sendable {
        /// The URL, with its query.
        let url: String
        /// The form that was posted.
        let body: Secret?
    }

    private struct Arrivals {
        var redirects: [Redirect] = []
        var waiter: Waiter<Redirect>?
    }

    // Limit silent and slow connections, so that they can't block the browser's connection.
    private static let mostConnections = 16
    static let connectionTimeout: Duration = .seconds(2)
    /// How many unread redirects are kept. More than one, so that another program's redirect doesn't displace the browser's.
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

    /// - Parameter timeout: limits how long a request's head takes to arrive, and then its body.
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

    /// Waits for the next request. Only one caller may wait.
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

    /// Releases the port at once; the thread ends a little later.
    func stop() {
        isStopped.withLock { isStopped in
            guard !isStopped else { return }
            isStopped = true
            // The thread closes the sockets only after it has seen the flag, so these descriptors can't belong to other files
            // yet.
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
                    // For example, the process has run out of descriptors. A pause keeps this loop from spinning.
                    poll(nil, 0, 50)
                }
            }
        }
    }

    /// Reads the bytes that have arrived, and responds if the request is complete. Other requests, such as a browser's for an
    /// icon, get an error.
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

/// Opens listening sockets on loopback.
enum LoopbackSockets {
    /// Limits the search for a port that is free on both addresses.
    private static let mostAttempts = 16

    /// Opens the sockets of a redirect URI: two for `localhost` if the machine has IPv6, since a browser may choose either
    /// address.
    ///
    /// - Returns: the sockets, which the caller closes, and their port.
    static func open(_ uri: RedirectURI) throws(ListenError) -> (sockets: [Int32], port: UInt16) {
        switch uri.host {
        case .ipv4:
            let (socket, port) = try bound(AF_INET, uri.port, uri.host).mapError(\.error).get()
            return ([socket], port)
        case .ipv6:
            let (socket, port) = try bound(AF_INET6, uri.port, uri.host).mapError(\.error).get()
            return ([socket], port)
        case .localhost: return try both(uri.port)
        }
    }

    private static func both(_ wanted: UInt16) throws(ListenError) -> (sockets: [Int32], port: UInt16) {
        for attempt in 1...mostAttempts {
            let (first, port) = try bound(AF_INET, wanted, .localhost).mapError(\.error).get()
            switch bound(AF_INET6, port, .localhost) {
            case .success((let second, _)): return ([first, second], port)
            case .failure(let failure) where failure.isWithoutIPv6: return ([first], port)
            case .failure(let failure):
                close(first)
                // Another program that owns the port at the other address could receive the redirect.
                guard wanted == 0, failure.code == EADDRINUSE, attempt < mostAttempts else { throw failure.error }
            }
        }
        throw ListenError(isTransient: true, description: "no port is free at both addresses of localhost")
    }

    private struct Failure: Error {
        let code: Int32
        let host: RedirectURI.Host
        let port: UInt16

        var isWithoutIPv6: Bool { code == EAFNOSUPPORT || code == EADDRNOTAVAIL || code == EPROTONOSUPPORT }

        var error: ListenError {
            let place = port == 0 ? "any port of \(host.rawValue)" : "\(host.rawValue):\(port)"
            let problem =
                switch code {
                case EADDRINUSE: "another program uses the port"
                case EACCES: "this user may not open the port; choose one above 1023"
                default: String(cString: strerror(code))
                }
            return ListenError(
                isTransient: code == EADDRINUSE, description: "can't listen at \(place) for the browser's redirect: \(problem)")
        }
    }

    private static func bound(
        _ family: Int32, _ port: UInt16, _ host: RedirectURI.Host
    ) -> Result<(socket: Int32, port: UInt16), Failure> {
        // Must not block: a connection may be gone when it is accepted.
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(family, Int32(kind), 0)
        guard descriptor >= 0 else { return .failure(Failure(code: errno, host: host, port: port)) }
        var yes: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        // The last login's connections may still wait for stray packets, and must not block the port. This option doesn't let
        // another listener share the port.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
        if family == AF_INET6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, size) }
        guard let bound = family == AF_INET6 ? bind6(descriptor, port) : bind4(descriptor, port) else {
            let code = errno
            close(descriptor)
            return .failure(Failure(code: code, host: host, port: port))
        }
        return .success((descriptor, bound))
    }

    private static func bind4(_ descriptor: Int32, _ port: UInt16) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return bindAndListen(descriptor, &address) ? UInt16(bigEndian: address.sin_port) : nil
    }

    private static func bind6(_ descriptor: Int32, _ port: UInt16) -> UInt16? {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        return bindAndListen(descriptor, &address) ? UInt16(bigEndian: address.sin6_port) : nil
    }

    /// Replaces the address with the one that the socket got. Leaves the reason of a failure in `errno`.
    private static func bindAndListen<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
        var length = socklen_t(MemoryLayout<Address>.size)
        return withUnsafeMutableBytes(of: &address) { bytes in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return bind(descriptor, address, length) == 0 && listen(descriptor, 8) == 0
                && getsockname(descriptor, address, &length) == 0
        }
    }
}

/// Why the program can't listen for a browser's redirect.
struct ListenError: Error, CustomStringConvertible {
    /// Whether a retry may succeed, because another program may release the port.
    let isTransient: Bool
    let description: String
}

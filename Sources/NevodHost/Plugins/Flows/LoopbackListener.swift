internal import NevodSupport

#if canImport(Glibc)
    internal import Glibc
#endif

/// A redirect URI on loopback (RFC 8252 §7.3): waits for the one request that a browser makes there.
final class LoopbackListener: Sendable {
    let url: String
    private let path: String
    private let listener: Int32
    private let arrival = Waiter<String>()
    private let isStopped = Locked(false)

    /// - Parameter path: begins with a slash.
    init(path: String) throws(TransportError) {
        self.path = path
        let failure = TransportError(.other, "no port on 127.0.0.1 can be opened for the browser's answer")
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw failure }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return bind(descriptor, address, length) == 0 && listen(descriptor, 8) == 0
                && getsockname(descriptor, address, &length) == 0
        }
        guard isBound else {
            close(descriptor)
            throw failure
        }
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))\(path)"
        serve()
    }

    /// The URL that the browser asked for, with its query.
    func redirect(until deadline: ContinuousClock.Instant?) async throws -> String {
        try await arrival.value(until: deadline)
    }

    func stop() {
        isStopped.withLock { $0 = true }
    }

    /// On a thread of its own: it blocks, for a quarter of a second at a time.
    private func serve() {
        let thread = Thread { [self] in
            defer { close(listener) }
            while !isStopped.withLock({ $0 }) {
                var poll = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
                guard Glibc.poll(&poll, 1, 250) == 1 else { continue }
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { continue }
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                defer { close(connection) }
                if let target = answer(connection) {
                    arrival.resume(with: .success("\(url.dropLast(path.utf8.count))\(target)"))
                    return
                }
            }
        }
        thread.start()
    }

    /// Browsers ask for icons too, and other programs of this machine for anything: those get an error, and the wait goes on.
    private func answer(_ connection: Int32) -> String? {
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var head: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while head.count < 32 << 10, !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            head += buffer[..<count]
        }
        let words = head.prefix { $0 != UInt8(ascii: "\r") }.split(separator: UInt8(ascii: " "))
        let target = words.count == 3 ? String(decoding: words[1], as: UTF8.self) : ""
        let isRedirect =
            words.first?.elementsEqual("GET".utf8) == true && (target == path || target.hasPrefix("\(path)?"))
        let text = isRedirect ? "Done. You can close this window and go back to the program." : "There is nothing here."
        let reply = """
            HTTP/1.1 \(isRedirect ? "200 OK" : "404 Not Found")\r
            Content-Type: text/plain; charset=utf-8\r
            Cache-Control: no-store\r
            Content-Length: \(text.utf8.count)\r
            Connection: close\r
            \r
            \(text)
            """
        let bytes = Array(reply.utf8)
        _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        return isRedirect ? target : nil
    }
}

/// A detached thread.
private struct Thread {
    private final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private let work: Work

    init(_ run: @escaping @Sendable () -> Void) {
        work = Work(run)
    }

    func start() {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(work)
        let status = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, context.toOpaque())
        if status == 0 { pthread_detach(thread) } else { context.release() }
    }
}

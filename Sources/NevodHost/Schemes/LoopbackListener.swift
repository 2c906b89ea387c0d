internal import Glibc
internal import NevodSupport

/// Serves a redirect URI on loopback (RFC 8252 §7.3) until it is stopped, and passes on the URLs that are requested there. Any
/// program on this machine can request one; the flow has to check that a URL came from its own browser session.
final class LoopbackListener: Sendable {
    private struct Arrivals {
        var urls: [String] = []
        var waiter: Waiter<String>?
    }

    // Limit silent and slow connections, so that they can't block the browser's.
    private static let mostConnections = 16
    private static let connectionTimeout: Duration = .seconds(2)

    let url: String
    private let path: String
    private let authority: String
    private let listener: Int32
    private let arrivals = Locked(Arrivals())
    private let isStopped = Locked(false)

    /// - Parameter path: begins with a slash.
    init(path: String) throws(TransportError) {
        self.path = path
        let failure = TransportError(.other, "can't open a port on 127.0.0.1 for the browser's redirect")
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
        authority = "127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        url = "http://\(authority)\(path)"
        // A separate thread, because `serve` blocks, for up to a quarter of a second in each poll.
        guard isBound, SystemThread.start({ self.serve() }) else {
            close(descriptor)
            throw failure
        }
    }

    /// Waits for the next requested URL, with its query. Supports one caller at a time.
    func redirect(until deadline: ContinuousClock.Instant?) async throws -> String {
        let waiter = Waiter<String>()
        arrivals.withLock { arrivals in
            if arrivals.urls.isEmpty {
                arrivals.waiter = waiter
            } else {
                waiter.resume(with: .success(arrivals.urls.removeFirst()))
            }
        }
        return try await waiter.value(until: deadline)
    }

    func stop() {
        isStopped.withLock { $0 = true }
    }

    private func arrived(_ target: String) {
        let url = "http://\(authority)\(target)"
        arrivals.withLock { arrivals in
            if arrivals.waiter?.resume(with: .success(url)) != true, arrivals.urls.count < Self.mostConnections {
                arrivals.urls.append(url)
            }
            arrivals.waiter = nil
        }
    }

    private struct Connection {
        let descriptor: Int32
        let deadline: ContinuousClock.Instant
        var head: [UInt8] = []
        var isFinished = false
    }

    private func serve() {
        var connections: [Connection] = []
        defer { for descriptor in connections.map(\.descriptor) + [listener] { close(descriptor) } }
        while !isStopped.withLock(\.self) {
            var polls = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            if connections.count < Self.mostConnections { polls.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0)) }
            poll(&polls, nfds_t(polls.count), 250)
            for index in connections.indices {
                if polls[index].revents != 0 { receive(&connections[index]) }
                if connections[index].deadline < .now { connections[index].isFinished = true }
            }
            let mayAccept = polls.count > connections.count && polls[connections.count].revents != 0
            for connection in connections where connection.isFinished { close(connection.descriptor) }
            connections.removeAll(where: \.isFinished)
            guard mayAccept else { continue }
            let descriptor = accept(listener, nil, nil)
            if descriptor >= 0 {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                connections.append(Connection(descriptor: descriptor, deadline: .now + Self.connectionTimeout))
            } else {
                // Out of descriptors, for example: a pause keeps this loop from spinning.
                poll(nil, 0, 50)
            }
        }
    }

    private func receive(_ connection: inout Connection) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else {
            connection.isFinished = true
            return
        }
        connection.head += buffer[..<count]
        if connection.head.suffix(4).elementsEqual("\r\n\r\n".utf8) { respond(to: &connection) }
        if connection.head.count > 32 << 10 { connection.isFinished = true }
    }

    /// Responds with an error to other requests, such as a browser's for an icon, and keeps waiting.
    private func respond(to connection: inout Connection) {
        connection.isFinished = true
        let target = redirectTarget(of: connection.head)
        let text = target == nil ? "There is nothing here." : "Done. You can close this window and go back to the program."
        let response = """
            HTTP/1.1 \(target == nil ? "404 Not Found" : "200 OK")\r
            Content-Type: text/plain; charset=utf-8\r
            Cache-Control: no-store\r
            Content-Length: \(text.utf8.count)\r
            Connection: close\r
            \r
            \(text)
            """
        let bytes = Array(response.utf8)
        _ = send(connection.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        if let target { arrived(target) }
    }

    /// Returns nil if the request is not for the redirect URI. Checking Host rejects requests under another name (DNS rebinding).
    private func redirectTarget(of head: [UInt8]) -> String? {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == "GET", words[1] == path || words[1].hasPrefix("\(path)?"),
            words[1].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            lines.contains(where: { $0.lowercased() == "host: \(authority)" })
        else { return nil }
        return String(words[1])
    }
}

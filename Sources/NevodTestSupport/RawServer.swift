import Glibc

/// A server on 127.0.0.1 that does what a test tells it, right or wrong. Each connection has a thread of its own.
package final class RawServer: Sendable {
    package typealias Handler = @Sendable (_ connection: RawConnection, _ index: Int) -> Void

    package let url: String
    package let authority: String
    private let listener: Int32
    private let handler: Handler

    package init(_ handler: @escaping Handler) throws {
        self.handler = handler
        listener = Loopback.socket(Int32(SOCK_NONBLOCK.rawValue))
        let listener = listener
        guard let port = Loopback.bind(listener), listen(listener, 1024) == 0 else {
            throw Command.Failure(description: "can't listen on 127.0.0.1")
        }
        authority = "127.0.0.1:\(port)"
        url = "http://\(authority)"
        let work: @Sendable () -> Void = {
            var index = 0
            while true {
                var poll = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
                guard Glibc.poll(&poll, 1, -1) == 1, Int32(poll.revents) & POLLHUP == 0 else { break }
                let (accepted, number) = (accept(listener, nil, nil), index)
                guard accepted >= 0 else { continue }
                // Swift's view of glibc lacks accept4.
                _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                onThread { handler(RawConnection(accepted), number) }
                index += 1
            }
            close(listener)
        }
        onThread(work)
    }

    /// Sends the same response to every request of every connection.
    package static func responding(_ response: String) throws -> RawServer {
        try RawServer { connection, _ in
            while connection.readRequest() != nil { connection.write(response) }
        }
    }

    /// A port that refuses connections. It is bound, so that no other process takes it while this one lives.
    package static func closedPort() throws -> Int {
        guard let port = Loopback.bind(Loopback.socket()) else { throw Command.Failure(description: "no port left") }
        return Int(port)
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }
}

/// TCP sockets of 127.0.0.1.
enum Loopback {
    static func socket(_ flags: Int32 = 0) -> Int32 {
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | flags, 0)
    }

    /// Binds a socket to a free port.
    ///
    /// - Returns: the port; nil if there is none.
    static func bind(_ socket: Int32) -> UInt16? {
        withAddress(port: 0) { address, length in
            var length = length
            guard Glibc.bind(socket, address, length) == 0, getsockname(socket, address, &length) == 0 else { return nil }
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
        }
    }

    /// Whether a port accepts a connection.
    static func accepts(_ port: UInt16) -> Bool {
        let probe = socket()
        defer { close(probe) }
        return withAddress(port: port) { address, length in connect(probe, address, length) == 0 }
    }

    private static func withAddress<Result>(
        port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}

/// One connection, used by its own thread alone. Closed when it is deinitialized.
package final class RawConnection {
    package struct Request {
        /// Up to and including the empty line.
        package let head: String
        package let body: [UInt8]
    }

    private let socket: Int32
    private var buffer: [UInt8] = []

    init(_ socket: Int32) {
        self.socket = socket
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(socket)
    }

    /// Returns false if the peer has closed the connection.
    @discardableResult
    package func write(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes)
        return bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = send(socket, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    @discardableResult
    package func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Whether the socket takes more bytes within half a second.
    package func canWrite() -> Bool {
        var poll = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        return Glibc.poll(&poll, 1, 500) > 0
    }

    /// True once the peer has closed the connection; discards everything it still sends.
    package func waitForEnd() -> Bool {
        while true {
            let (count, error) = receive()
            if count == 0 { return true }
            if count < 0 { return error == ECONNRESET || error == EPIPE }
            buffer = []
        }
    }

    /// Makes the close a reset, whether or not bytes are unread.
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    package func readHead() -> String? {
        readHeadBytes().map { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes as received: a header may hold invalid UTF-8.
    package func readHeadBytes() -> [UInt8]? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let index = buffer.indices.first(where: { buffer[$0...].starts(with: end) }) {
                defer { buffer.removeFirst(index + 4) }
                return Array(buffer[..<(index + 4)])
            }
            guard receive().count > 0 else { return nil }
        }
    }

    package func read(_ count: Int) -> [UInt8]? {
        while buffer.count < count {
            guard receive().count > 0 else { return nil }
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    /// A head and, if it has a length, its body.
    package func readRequest() -> Request? {
        guard let head = readHead() else { return nil }
        let field = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        let length = field.flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0
        guard let body = read(length) else { return nil }
        return Request(head: head, body: body)
    }

    private func receive() -> (count: Int, error: Int32) {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = recv(socket, &bytes, bytes.count, 0)
        let error = errno
        if count > 0 { buffer += bytes[..<count] }
        return (count, error)
    }
}

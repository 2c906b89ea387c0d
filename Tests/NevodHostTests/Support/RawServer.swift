internal import Glibc
internal import NevodSupport

/// A server on 127.0.0.1 that does just what a test tells it, right or wrong. Each connection has a thread of its own.
final class RawServer: Sendable {
    typealias Handler = @Sendable (_ connection: RawConnection, _ index: Int) -> Void

    let url: String
    let authority: String
    private let listener: Int32
    private let handler: Handler

    init(_ handler: @escaping Handler) throws {
        self.handler = handler
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutableBytes(of: &address) { bytes in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return bind(listener, address, length) == 0 && listen(listener, 1024) == 0
                && getsockname(listener, address, &length) == 0
        }
        guard isListening else { throw Command.Failure(description: "can't listen on 127.0.0.1") }
        authority = "127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        url = "http://\(authority)"
        let work: @Sendable () -> Void = {
            var index = 0
            while true {
                var poll = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
                guard Glibc.poll(&poll, 1, -1) == 1, Int32(poll.revents) & POLLHUP == 0 else { break }
                var socket: Int32 = -1
                Descriptors.make {
                    socket = accept(listener, nil, nil)
                    return [socket]
                }
                let (accepted, number) = (socket, index)
                guard accepted >= 0 else { continue }
                onThread { handler(RawConnection(accepted), number) }
                index += 1
            }
            close(listener)
        }
        onThread(work)
    }

    /// Answers every request of every connection alike.
    static func answering(_ answer: String) throws -> RawServer {
        try RawServer { connection, _ in
            while connection.readRequest() != nil { connection.write(answer) }
        }
    }

    /// A port where nobody listens: bound, so that nobody else takes it while this process lives.
    static func closedPort() throws -> Int {
        let bound = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return bind(bound, address, length) == 0 && getsockname(bound, address, &length) == 0
        }
        guard isBound else { throw Command.Failure(description: "no port left") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }
}

/// One connection, used by its own thread alone. Closed when it goes.
final class RawConnection {
    struct Request {
        /// Up to and with the empty line.
        let head: String
        let body: [UInt8]
    }

    private let socket: Int32
    private var buffer: [UInt8] = []

    init(_ socket: Int32) {
        self.socket = socket
        // No test waits for ever.
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(socket)
    }

    /// False when the peer has gone.
    @discardableResult
    func write(_ bytes: some Collection<UInt8>) -> Bool {
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
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Whether there is room for more within half a second.
    func canWrite() -> Bool {
        var poll = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        return Glibc.poll(&poll, 1, 500) > 0
    }

    /// True once the peer has ended the connection; what it still sends is dropped.
    func waitForEnd() -> Bool {
        while true {
            let (count, error) = receive()
            if count == 0 { return true }
            if count < 0 { return error == ECONNRESET || error == EPIPE }
            buffer = []
        }
    }

    /// Ends the connection with a reset, unread bytes or not.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    func readHead() -> String? {
        readHeadBytes().map { String(decoding: $0, as: UTF8.self) }
    }

    /// As it came: a header may hold what is no UTF-8.
    func readHeadBytes() -> [UInt8]? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let index = buffer.indices.first(where: { buffer[$0...].starts(with: end) }) {
                defer { buffer.removeFirst(index + 4) }
                return Array(buffer[..<(index + 4)])
            }
            guard receive().count > 0 else { return nil }
        }
    }

    func read(_ count: Int) -> [UInt8]? {
        while buffer.count < count {
            guard receive().count > 0 else { return nil }
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    /// A head and, if it has a length, its body.
    func readRequest() -> Request? {
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

/// A thread that may block, which those of Swift's pool may not.
func onThread(_ work: @escaping @Sendable () -> Void) {
    final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Work(work)).toOpaque()
    pthread_create(
        &thread, nil,
        { context in
            if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run() }
            return nil
        }, context)
    pthread_detach(thread)
}

import Glibc

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

    /// False if the peer has closed the connection.
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

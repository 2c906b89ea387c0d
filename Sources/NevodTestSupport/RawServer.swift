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

    /// Sends the same response to every request of every connection.
    package static func responding(_ response: String) throws -> RawServer {
        try RawServer { connection, _ in
            while connection.readRequest() != nil { connection.write(response) }
        }
    }

    /// A port that refuses connections: bound, so that no other process takes it while this one lives.
    package static func closedPort() throws -> Int {
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

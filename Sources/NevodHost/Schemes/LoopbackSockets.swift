internal import Glibc

/// Opens listening sockets on loopback.
enum LoopbackSockets {
    /// Limits how often a free port is searched that is free on both addresses.
    private static let mostAttempts = 16

    /// Opens the sockets of a redirect URI: two for `localhost`, where the machine has IPv6, since a browser may choose either address.
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
        // Not blocking: a connection may be gone when it is accepted.
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(family, Int32(kind), 0)
        guard descriptor >= 0 else { return .failure(Failure(code: errno, host: host, port: port)) }
        var yes: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        // The last login's connections may still wait for stray packets; this doesn't share a port that is listened at.
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

    /// Replaces the address by the one that the socket got. Leaves the reason of a failure in `errno`.
    private static func bindAndListen<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
        var length = socklen_t(MemoryLayout<Address>.size)
        return withUnsafeMutableBytes(of: &address) { bytes in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return bind(descriptor, address, length) == 0 && listen(descriptor, 8) == 0
                && getsockname(descriptor, address, &length) == 0
        }
    }
}

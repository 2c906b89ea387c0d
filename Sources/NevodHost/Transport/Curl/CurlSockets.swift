internal import CCurl
internal import CLinux
internal import Glibc

/// Waits for libcurl's sockets with epoll.
///
/// libcurl drops its interest in a connection after each request and adds it again for the next. Changes are therefore queued
/// and passed to the kernel just before the thread waits, so that a pair that cancels out costs no system call. (This saves a
/// fifth of a request's processor time, measured.) Used only on the loop's thread.
final class CurlSockets {
    private struct Interest {
        var wanted: UInt32 = 0
        var registered: UInt32 = 0
        var isQueued = false
    }

    private let epoll: Int32
    private let wakeEvent: Int32
    /// Indexed by descriptor.
    private var interests: [Interest] = []
    private var changed: [Int32] = []
    private var events = [epoll_event](repeating: epoll_event(), count: 256)

    /// Returns nil if no file descriptor is left.
    init?(wakeEvent: Int32) {
        self.wakeEvent = wakeEvent
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { return nil }
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data(fd: wakeEvent))
        epoll_ctl(epoll, EPOLL_CTL_ADD, wakeEvent, &event)
    }

    deinit {
        if epoll >= 0 { close(epoll) }
    }

    func watch(_ multi: UnsafeMutableRawPointer) {
        nevod_multi_set_socket_function(
            multi,
            { _, socket, what, context, _ in
                context.map { CurlSockets.from($0).want(socket, what) }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Opens a handle's sockets so that child processes don't inherit them, and records when they are closed, because a closed
    /// descriptor's number is reused for a new connection, which epoll doesn't watch yet.
    func own(_ easy: UnsafeMutableRawPointer) {
        nevod_easy_set_open_function(easy) { _, _, address in
            guard let address = address?.pointee else { return CURL_SOCKET_BAD }
            return socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
        }
        nevod_easy_set_close_function(
            easy,
            { context, socket in
                context.map { CurlSockets.from($0).forget(socket) }
                return close(socket)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Returns the ready sockets with libcurl's event masks; none after a wake-up or a timeout.
    func wait(milliseconds: Int32) -> [(socket: curl_socket_t, mask: Int32)] {
        register()
        let count = epoll_wait(epoll, &events, Int32(events.count), milliseconds)
        var ready: [(socket: curl_socket_t, mask: Int32)] = []
        for event in events.prefix(Int(max(count, 0))) {
            if event.data.fd == wakeEvent {
                var ignored: eventfd_t = 0
                eventfd_read(wakeEvent, &ignored)
            } else {
                ready.append((event.data.fd, Self.mask(event.events)))
            }
        }
        return ready
    }

    private func want(_ socket: curl_socket_t, _ what: Int32) {
        while interests.count <= Int(socket) { interests.append(Interest()) }
        var wanted: UInt32 = 0
        if what != CURL_POLL_REMOVE {
            if what & CURL_POLL_IN != 0 { wanted |= EPOLLIN.rawValue }
            if what & CURL_POLL_OUT != 0 { wanted |= EPOLLOUT.rawValue }
        }
        interests[Int(socket)].wanted = wanted
        guard !interests[Int(socket)].isQueued else { return }
        interests[Int(socket)].isQueued = true
        changed.append(socket)
    }

    private func forget(_ socket: curl_socket_t) {
        guard Int(socket) < interests.count else { return }
        // Closing the descriptor ends the watch only if no other process, such as a child, holds the connection.
        if interests[Int(socket)].registered != 0 { epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nil) }
        interests[Int(socket)].wanted = 0
        interests[Int(socket)].registered = 0
    }

    private func register() {
        for socket in changed {
            interests[Int(socket)].isQueued = false
            let (wanted, registered) = (interests[Int(socket)].wanted, interests[Int(socket)].registered)
            guard wanted != registered else { continue }
            interests[Int(socket)].registered = wanted
            var event = epoll_event(events: wanted, data: epoll_data(fd: socket))
            let operation = wanted == 0 ? EPOLL_CTL_DEL : registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
            guard epoll_ctl(epoll, operation, socket, &event) != 0, wanted != 0 else { continue }
            // The descriptor was closed elsewhere and reused for another connection: the opposite operation is right.
            epoll_ctl(epoll, errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event)
        }
        changed.removeAll(keepingCapacity: true)
    }

    private static func mask(_ events: UInt32) -> Int32 {
        var mask: Int32 = 0
        if events & EPOLLIN.rawValue != 0 { mask |= CURL_CSELECT_IN }
        if events & EPOLLOUT.rawValue != 0 { mask |= CURL_CSELECT_OUT }
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { mask |= CURL_CSELECT_ERR }
        return mask
    }

    private static func from(_ context: UnsafeMutableRawPointer) -> CurlSockets {
        Unmanaged<CurlSockets>.fromOpaque(context).takeUnretainedValue()
    }
}

internal import CCurl
internal import CLinux
internal import Glibc

/// Which of libcurl's sockets to wait for, and the waiting.
///
/// libcurl drops its interest in a connection after each request and takes it up again for the next. So what it says is only
/// noted, and goes to the kernel just before the thread waits: a pair that cancels out costs nothing. (A fifth of a request's
/// processor time, measured.) Belongs to the loop's thread.
final class CurlSockets {
    private struct Interest {
        var wanted: UInt32 = 0
        var registered: UInt32 = 0
        var isQueued = false
    }

    private let epoll: Int32
    private let wakeEvent: Int32
    /// By descriptor.
    private var interests: [Interest] = []
    private var changed: [Int32] = []
    private var events = [epoll_event](repeating: epoll_event(), count: 256)

    init(wakeEvent: Int32) {
        self.wakeEvent = wakeEvent
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        precondition(epoll >= 0, "no descriptor left for an event loop")
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data(fd: wakeEvent))
        epoll_ctl(epoll, EPOLL_CTL_ADD, wakeEvent, &event)
    }

    deinit {
        close(epoll)
    }

    func watch(_ multi: UnsafeMutableRawPointer) {
        nevod_multi_set_socket_function(
            multi,
            { _, socket, what, context, _ in
                context.map { CurlSockets.from($0).want(socket, what) }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Makes sockets that a child process does not inherit, and notes when they are closed: a descriptor's number comes back
    /// for another connection, which the kernel doesn't watch yet.
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

    /// The sockets that are ready, with libcurl's mask of what for; none after a wake-up or when the time is over.
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
        // Closing ends the watch only if nobody else, a child process for one, holds the connection too.
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
            // The kernel knows better: a descriptor that was closed behind our back, and is another connection's now.
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

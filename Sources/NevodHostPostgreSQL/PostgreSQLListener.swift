internal import CLinux
internal import Glibc
internal import NevodStorage
internal import NevodSupport

/// Hears what is told on a channel, on a connection and a thread of its own, and comes back after each loss of them.
final class PostgreSQLListener: Sendable {
    enum Event: Sendable {
        /// Whether all is heard from now on. Between a `false` and the next `true` anything may have been missed.
        case isListening(Bool)
        case news(PostgreSQLNews)
    }

    private let target: PostgreSQLTarget
    private let channel: String
    private let wake = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    private let isStopped = Locked(false)
    private let onEvent: @Sendable (Event) -> Void

    init(_ target: PostgreSQLTarget, channel: String, onEvent: @escaping @Sendable (Event) -> Void) {
        precondition(wake >= 0, "no descriptor left")
        self.target = target
        self.channel = channel
        self.onEvent = onEvent
    }

    deinit {
        close(wake)
    }

    /// Returns when it listens, or could not at once.
    func start() async {
        let tried = Waiter<Void>()
        SystemThread.start { self.listen { tried.resume(with: .success(())) } }
        _ = try? await tried.value(until: nil)
    }

    /// Its thread ends soon.
    func stop() {
        isStopped.withLock { $0 = true }
        eventfd_write(wake, 1)
    }

    private func listen(_ didTry: () -> Void) {
        var pause: Duration = .milliseconds(100)
        while !isStopped.withLock(\.self) {
            do throws(PostgreSQLError) {
                let connection = try target.connect()
                try connection.execute("LISTEN \(channel)")
                onEvent(.isListening(true))
                didTry()
                pause = .milliseconds(100)
                hear(connection)
                onEvent(.isListening(false))
            } catch {
                didTry()
            }
            // Not all processes of a fleet at once.
            wait(for: [], pause * Double.random(in: 0.5...1))
            pause = min(pause * 2, .seconds(5))
        }
    }

    /// Until the connection is lost, or this is stopped.
    private func hear(_ connection: PostgreSQLConnection) {
        while !isStopped.withLock(\.self) {
            for news in connection.notifications().compactMap(PostgreSQLNews.init) { onEvent(.news(news)) }
            if connection.isBroken { return }
            wait(for: [connection.socket], nil)
            connection.takeInput()
        }
    }

    /// - Parameter time: nil: without end. It ends early when this is stopped.
    private func wait(for sockets: [Int32], _ time: Duration?) {
        var descriptors = ([wake] + sockets).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&descriptors, nfds_t(descriptors.count), time.map { Int32($0 / .milliseconds(1)) } ?? -1)
    }
}

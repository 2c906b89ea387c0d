internal import CLinux
internal import Glibc
internal import NevodStorage
internal import NevodSupport

/// Receives the notifications of a channel on a connection and a thread of its own, and reconnects whenever they are lost.
final class PostgreSQLListener: Sendable {
    enum Event: Sendable {
        /// Whether every notification is received from now on. Between a `false` and the next `true`, some may have been missed.
        case isListening(Bool)
        case notification(PostgreSQLNotification)
    }

    /// The interval at which the store's tables are looked at: their removal or replacement sends no notification.
    private static let checkInterval: Duration = .seconds(5)

    private let target: PostgreSQLTarget
    private let schema: PostgreSQLSchema
    private let store: StoreIdentifier
    private let channel: String
    private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let wake: Int32
    private let isStopped = Locked(false)
    private let onEvent: @Sendable (Event) -> Void

    /// - Parameter startThread: Returns whether a thread was started; for tests.
    init(
        _ target: PostgreSQLTarget, _ schema: PostgreSQLSchema, _ store: StoreIdentifier, channel: String,
        startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = { SystemThread.start($0) },
        onEvent: @escaping @Sendable (Event) -> Void
    ) throws(StorageError) {
        wake = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard wake >= 0 else {
            throw StorageError(
                .unavailable, "PostgreSQL", problem: "can't be listened to: \(String(cString: strerror(errno)))",
                systemCode: errno)
        }
        self.target = target
        self.schema = schema
        self.store = store
        self.channel = channel
        self.startThread = startThread
        self.onEvent = onEvent
    }

    deinit {
        close(wake)
    }

    /// Returns once it is listening, or the first attempt failed. If the system has no thread left, tries again every few seconds;
    /// until then every read asks the server.
    func start() async {
        let tried = Waiter<Void>()
        guard startThread({ self.listen { tried.resume(with: .success(())) } }) else { return startLater() }
        _ = try? await tried.value(until: nil)
    }

    private func startLater() {
        _ = TimerQueue.shared.schedule(at: .now + .seconds(2)) { [weak self] in
            guard let self, !self.isStopped.withLock(\.self) else { return }
            if !self.startThread({ self.listen {} }) { self.startLater() }
        }
    }

    /// The thread ends soon after.
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
                if let print = try connection.fingerprint(of: store, schema) {
                    onEvent(.isListening(true))
                    didTry()
                    pause = .milliseconds(100)
                    receive(connection, while: print)
                    onEvent(.isListening(false))
                }
                didTry()
            } catch {
                didTry()
            }
            // A random pause, so that the processes of a fleet don't reconnect all at once.
            wait(for: [], pause * Double.random(in: 0.5...1))
            pause = min(pause * 2, .seconds(5))
        }
    }

    /// Returns when the connection is lost, the store's tables are removed or replaced, or after ``stop()``.
    private func receive(_ connection: PostgreSQLConnection, while print: [Int64]) {
        var checked = ContinuousClock.now
        while !isStopped.withLock(\.self) {
            for payload in connection.notifications() {
                if let notification = PostgreSQLNotification(payload) { onEvent(.notification(notification)) }
            }
            if connection.isBroken { return }
            let rest = checked + Self.checkInterval - .now
            guard rest > .zero else {
                guard (try? connection.fingerprint(of: store, schema)) == print else { return }
                checked = .now
                continue
            }
            wait(for: [connection.socket], rest)
            connection.takeInput()
        }
    }

    /// Waits for input, or until ``stop()``.
    ///
    /// - Parameter timeout: nil for none.
    private func wait(for sockets: [Int32], _ timeout: Duration?) {
        var descriptors = ([wake] + sockets).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&descriptors, nfds_t(descriptors.count), timeout.map { Int32($0 / .milliseconds(1)) } ?? -1)
    }
}

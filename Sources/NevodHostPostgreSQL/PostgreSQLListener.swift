internal import CLinux
internal import Glibc
internal import NevodStorage
internal import NevodSupport

/// Receives a channel's notifications on a connection and a thread of its own. Reconnects after the connection is lost.
final class PostgreSQLListener: Sendable {
    enum Event: Sendable {
        /// Whether every notification is received from now on. Notifications between a `false` and the next `true` may have been
        /// missed.
        case isListening(Bool)
        case notification(PostgreSQLNotification)
    }

    /// How often the store's tables are checked: no notification is sent if they are removed or replaced.
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

    /// Returns once it is listening, or after the first attempt has failed. If the system has no thread left, retries every few
    /// seconds. Until it is listening, every read asks the server.
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

    /// Stops listening. The thread ends soon afterwards.
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
            // A random pause keeps the processes of a fleet from reconnecting all at once.
            wait(for: [], pause * Double.random(in: 0.5...1))
            pause = min(pause * 2, .seconds(5))
        }
    }

    /// Returns when the connection is lost, when the store's tables are removed or replaced, or after ``stop()``.
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
    /// - Parameter timeout: nil for no timeout.
    private func wait(for sockets: [Int32], _ timeout: Duration?) {
        var descriptors = ([wake] + sockets).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&descriptors, nfds_t(descriptors.count), timeout.map { Int32($0 / .milliseconds(1)) } ?? -1)
    }
}

/// A message between the processes that share a store, sent as the payload of a notification.
enum PostgreSQLNotification: Sendable, Equatable {
    case changed(StorageKey, version: Int64)
    /// The renewal lock with this number is free.
    case released(UInt64)

    /// Always shorter than the server's limit of 8,000 bytes, because the length of a key is limited.
    var payload: String {
        switch self {
        case .changed(let key, let version): "changed \(version) \(Hexadecimal.text(key.rawValue.utf8))"
        case .released(let lock): "released \(lock)"
        }
    }

    /// - Returns: nil for the payload of a later version or of another program.
    init?(_ payload: String) {
        let words = payload.split(separator: " ", omittingEmptySubsequences: false)
        switch (words.first, words.count) {
        case ("changed", 3):
            let key = Array(words[2].utf8).withUnsafeBytes { Hexadecimal.secret($0) }
            guard let version = Int64(words[1]), let key else { return nil }
            let text = key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            self = .changed(StorageKey(rawValue: text), version: version)
        case ("released", 2):
            guard let lock = UInt64(words[1]) else { return nil }
            self = .released(lock)
        default: return nil
        }
    }
}

/// Acts on what the listener hears: invalidates cached values, notifies observers and wakes waiters for renewal locks.
final class PostgreSQLEventDispatcher: Sendable {
    let cache = Locked(RemoteCache())
    let observers = StorageObservers()
    let locks: PostgreSQLRenewalLocks

    init(_ locks: PostgreSQLRenewalLocks) {
        self.locks = locks
    }

    func handle(_ event: PostgreSQLListener.Event) {
        switch event {
        case .isListening(let isListening):
            let keys = cache.withLock { $0.setListening(isListening) }
            // Observers are notified only once notifications arrive again, so that no later change is missed.
            if isListening { for key in keys { observers.notify(key) } }
        case .notification(.changed(let key, let version)):
            cache.withLock { $0.noteVersion(version, of: key) }
            observers.notify(key)
        case .notification(.released(let lock)): locks.didRelease(lock)
        }
    }
}

internal import CCurl
internal import CLinux
internal import Glibc
internal import NevodSupport
internal import Synchronization

/// A thread that drives all transfers of a session and runs the tasks that prefer it as their executor, so that a request needs
/// no thread hops between its transfers.
///
/// The thread waits on libcurl's sockets (multi_socket interface) and on an event descriptor that wakes it. It starts with the
/// first work, and ends when the session is released and no work is left.
final class CurlLoop: TaskExecutor, @unchecked Sendable {  // `inbox` is locked; only the thread accesses the rest.
    enum Command {
        case start(CurlTransfer)
        case cancel(CurlTransfer)
        case pull(CurlTransfer, CurlTransfer.PieceContinuation)
    }

    private struct Inbox {
        var jobs: [UnownedJob] = []
        var commands: [Command] = []
        var isAsleep = false
        var isRunning = false
        var isStopping = false
    }

    private let inbox = Locked(Inbox())
    private let threadID = Atomic<UInt>(0)
    private let multi: UnsafeMutableRawPointer
    private let sockets: CurlSockets
    private let wakeEvent: Int32

    // Accessed only on the thread:
    private var jobs: [UnownedJob] = []
    private var handles: [CurlHandle] = []
    private var activeTransfers = 0
    /// libcurl's next timeout on the monotonic clock, in nanoseconds; nil if it has none.
    private var deadline: Int64?
    private let makeHandle: () -> CurlHandle?

    /// The number of idle connections that libcurl may keep.
    private static let connectionCache = 256
    private static let idleHandles = 256

    init(maxConnectionsPerHost: Int, makeHandle: @escaping @Sendable () -> CurlHandle?) {
        self.makeHandle = makeHandle
        guard CurlLibrary.isReady, let multi = curl_multi_init() else { preconditionFailure("libcurl can't be initialized") }
        self.multi = multi
        wakeEvent = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(wakeEvent >= 0, "no file descriptor left for an event loop")
        sockets = CurlSockets(wakeEvent: wakeEvent)
        sockets.watch(multi)
        let context = Unmanaged.passUnretained(self).toOpaque()
        nevod_multi_set_timer_function(
            multi,
            { _, milliseconds, context in
                context.map { Unmanaged<CurlLoop>.fromOpaque($0).takeUnretainedValue().setTimer(milliseconds) }
                return 0
            }, context)
        nevod_multi_set_long(multi, CURLMOPT_MAXCONNECTS, Self.connectionCache)
        nevod_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, maxConnectionsPerHost)
    }

    deinit {
        handles.removeAll()
        curl_multi_cleanup(multi)
        close(wakeEvent)
    }

    // MARK: On any thread

    var isCurrentThread: Bool { threadID.load(ordering: .relaxed) == UInt(pthread_self()) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrentThread {
            jobs.append(job)
        } else {
            post { $0.jobs.append(job) }
        }
    }

    func perform(_ command: Command) {
        if isCurrentThread {
            execute(command)
        } else {
            post { $0.commands.append(command) }
        }
    }

    /// Lets the thread end once no work is left.
    func stop() {
        post { $0.isStopping = true }
    }

    private func post(_ change: (inout Inbox) -> Void) {
        let (mustWake, mustStart) = inbox.withLock { inbox in
            change(&inbox)
            let mustStart = !inbox.isRunning && (!inbox.jobs.isEmpty || !inbox.commands.isEmpty)
            if mustStart { inbox.isRunning = true }
            defer { inbox.isAsleep = false }
            return (inbox.isAsleep, mustStart)
        }
        if mustStart {
            startThread()
        } else if mustWake {
            eventfd_write(wakeEvent, 1)
        }
    }

    private func startThread() {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        let failure = pthread_create(
            &thread, nil,
            { context in
                context.map { Unmanaged<CurlLoop>.fromOpaque($0).takeRetainedValue().run() }
                return nil
            }, context)
        precondition(failure == 0, "no thread left for an event loop")
        pthread_detach(thread)
    }

    // MARK: On the thread

    private func run() {
        threadID.store(UInt(pthread_self()), ordering: .relaxed)
        while true {
            runJobs()
            if let deadline, deadline <= nevod_monotonic_nanoseconds() {
                self.deadline = nil
                var running: Int32 = 0
                curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
                finishTransfers()
            }
            guard let timeout = nextTimeout() else { break }
            let ready = sockets.wait(milliseconds: timeout)
            takeInbox()
            var running: Int32 = 0
            for (socket, mask) in ready { curl_multi_socket_action(multi, socket, mask, &running) }
            finishTransfers()
        }
    }

    /// Returns the timeout for epoll in milliseconds; nil if the thread may end.
    private func nextTimeout() -> Int32? {
        guard jobs.isEmpty else { return 0 }
        let mayEnd = activeTransfers == 0
        let (isIdle, ends) = inbox.withLock { inbox in
            let isIdle = inbox.jobs.isEmpty && inbox.commands.isEmpty
            let ends = isIdle && mayEnd && inbox.isStopping
            inbox.isAsleep = isIdle && !ends
            if ends {
                // Reset before another thread can start, since it may get the same ID.
                threadID.store(0, ordering: .relaxed)
                inbox.isRunning = false
            }
            return (isIdle, ends)
        }
        if ends { return nil }
        guard isIdle else { return 0 }
        guard let deadline else { return -1 }
        // Rounded up: waking too early would make the loop spin.
        return Int32(clamping: max(0, (deadline - nevod_monotonic_nanoseconds() + 999_999) / 1_000_000))
    }

    private func takeInbox() {
        let commands = inbox.withLock { inbox in
            inbox.isAsleep = false
            jobs.append(contentsOf: inbox.jobs)
            inbox.jobs.removeAll(keepingCapacity: true)
            defer { inbox.commands = [] }
            return inbox.commands
        }
        commands.forEach(execute)
    }

    private func runJobs() {
        var index = 0
        // Jobs enqueued by these jobs run after the next network events.
        let count = jobs.count
        while index < count {
            jobs[index].runSynchronously(on: asUnownedTaskExecutor())
            index += 1
        }
        jobs.removeFirst(count)
    }

    private func execute(_ command: Command) {
        switch command {
        case .start(let transfer): transfer.start(on: self)
        case .cancel(let transfer): transfer.cancel()
        case .pull(let transfer, let piece): transfer.pull(piece)
        }
    }

    // MARK: libcurl

    /// Takes a handle from the pool or creates one; nil if libcurl can't create one.
    func takeHandle() -> CurlHandle? {
        if let idle = handles.popLast() { return idle }
        let handle = makeHandle()
        handle.map { sockets.own($0.easy) }
        return handle
    }

    func add(_ handle: CurlHandle) -> CURLMcode {
        let code = curl_multi_add_handle(multi, handle.easy)
        if code == CURLM_OK { activeTransfers += 1 }
        return code
    }

    func giveBack(_ handle: CurlHandle, wasAdded: Bool) {
        if wasAdded {
            curl_multi_remove_handle(multi, handle.easy)
            activeTransfers -= 1
        }
        handle.forgetRequest()
        if handles.count < Self.idleHandles { handles.append(handle) }
    }

    private func finishTransfers() {
        var result = CURLE_OK
        while let easy = nevod_multi_next_done(multi, &result) {
            CurlHandle.transfer(of: easy)?.finish(result)
        }
    }

    private func setTimer(_ milliseconds: Int) {
        deadline = milliseconds < 0 ? nil : nevod_monotonic_nanoseconds() + Int64(milliseconds) * 1_000_000
    }
}

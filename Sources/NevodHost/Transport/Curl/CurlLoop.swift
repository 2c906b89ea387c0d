internal import CCurl
internal import CLinux
internal import CPluginCalls
internal import Glibc
internal import NevodSupport
internal import Synchronization

/// A thread that drives all transfers of a session and runs the tasks that prefer it as their executor, so that a request needs
/// no thread hops between its transfers.
///
/// The thread waits on libcurl's sockets (multi_socket interface) and on an event descriptor that wakes it. It starts with the
/// first work, and ends when the session is released and no work is left. If a job blocks it, another thread can take its place
/// (``handOver()``).
final class CurlLoop: TaskExecutor, @unchecked Sendable {  // `inbox` is locked; only the owner accesses the rest.
    enum Command {
        case start(CurlTransfer)
        case cancel(CurlTransfer)
        case pull(CurlTransfer, CurlTransfer.PieceContinuation)
        case upload(CurlTransfer, Result<[UInt8], any Error>)
    }

    private struct Inbox {
        var jobs: [UnownedJob] = []
        var commands: [Command] = []
        var isAsleep = false
        var isRunning = false
        var isStopping = false
    }

    private let inbox = Locked(Inbox())
    /// The ID of the thread that owns the loop; 0 if there is none. The lowest bit, which no ID has set, is set while the owner
    /// runs a job.
    ///
    /// While the bit is set, the owner doesn't access the loop, and another thread may replace it by a compare-exchange. The
    /// owner clears the bit in the same way before it accesses the loop, after the job or during it, and so learns whether it is
    /// still the owner.
    private let owner = Atomic<UInt>(0)
    private let starting = Locked(())
    private let multi: UnsafeMutableRawPointer
    private let sockets: CurlSockets
    private let wakeEvent: Int32

    // Accessed only by the owner:
    private var jobs: [UnownedJob] = []
    /// The index of the first job that hasn't been started.
    private var nextJob = 0
    private var handles: [CurlHandle] = []
    private var activeTransfers = 0
    /// libcurl's next timeout on the monotonic clock, in nanoseconds; nil if it has none.
    private var deadline: Int64?
    private let makeHandle: () throws(TransportError) -> CurlHandle

    /// The bit of `owner` for a job in progress.
    private static let inJob: UInt = 1

    /// The number of idle connections that libcurl may keep.
    private static let connectionCache = 256
    private static let idleHandles = 256

    /// - Throws: an error if libcurl can't be initialized, or no file descriptor is left.
    init(
        maxConnectionsPerHost: Int, makeHandle: @escaping @Sendable () throws(TransportError) -> CurlHandle
    ) throws(TransportError) {
        guard CurlLibrary.isReady, let multi = curl_multi_init() else {
            throw TransportError(.other, "libcurl can't be initialized", curlCode: 2)
        }
        let wakeEvent = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wakeEvent >= 0, let sockets = CurlSockets(wakeEvent: wakeEvent) else {
            if wakeEvent >= 0 { close(wakeEvent) }
            curl_multi_cleanup(multi)
            throw TransportError(
                .other, "no file descriptor is left for an event loop; raise the limit (ulimit -n)", curlCode: 2)
        }
        self.makeHandle = makeHandle
        self.multi = multi
        self.wakeEvent = wakeEvent
        self.sockets = sockets
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

    var isCurrentThread: Bool { owner.load(ordering: .relaxed) & ~Self.inJob == UInt(pthread_self()) }

    /// Whether the loop has a thread.
    var isRunning: Bool { inbox.withLock { $0.isRunning } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if accessAsOwner({ jobs.append(job) }) { return }
        // Once the job is posted, it may finish, and its task may release the session and this loop, before this call returns.
        let hold = Unmanaged.passRetained(self)
        defer { hold.release() }
        post { $0.jobs.append(job) }
    }

    func perform(_ command: Command) {
        if !accessAsOwner({ execute(command) }) { post { $0.commands.append(command) } }
    }

    /// Replaces the loop's thread with a new one, because the old one runs a job that blocks. The old thread finishes the job and
    /// then ends. Whatever the job enqueues from then on is posted, as from any other thread.
    ///
    /// Safe at any time and on any thread.
    ///
    /// - Returns: whether a new thread runs the loop; false if the old one isn't running a job, or no thread can be started.
    func handOver() -> Bool {
        let current = owner.load(ordering: .relaxed)
        return current & Self.inJob != 0 && startThread(replacing: current)
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
            if !startThread(replacing: 0) { refuseInbox() }
        } else if mustWake {
            eventfd_write(wakeEvent, 1)
        }
    }

    /// Runs `body` if the current thread owns the loop; returns whether it does.
    private func accessAsOwner(_ body: () -> Void) -> Bool {
        let thread = UInt(pthread_self())
        let current = owner.load(ordering: .relaxed)
        if current == thread {
            body()
            return true
        }
        // In a job. Another thread may be about to take over the loop.
        guard current == thread | Self.inJob, exchangeOwner(thread | Self.inJob, thread) else { return false }
        body()
        owner.store(thread | Self.inJob, ordering: .releasing)
        return true
    }

    private func exchangeOwner(_ expected: UInt, _ new: UInt) -> Bool {
        owner.compareExchange(
            expected: expected, desired: new, successOrdering: .acquiring, failureOrdering: .relaxed
        ).exchanged
    }

    /// Starts a thread, and makes it the owner.
    ///
    /// - Parameter replaced: the value of `owner` to replace.
    /// - Returns: false if `owner` no longer has that value, or no thread can be started.
    private func startThread(replacing replaced: UInt) -> Bool {
        // The thread waits for this lock before it checks whether it is the owner.
        starting.withLock { _ in
            var thread = pthread_t()
            let context = Unmanaged.passRetained(self)
            let failure = pthread_create(
                &thread, nil,
                { context in
                    context.map { Unmanaged<CurlLoop>.fromOpaque($0).takeRetainedValue().run() }
                    return nil
                }, context.toOpaque())
            guard failure == 0 else {
                context.release()
                return false
            }
            defer { pthread_detach(thread) }
            return exchangeOwner(replaced, UInt(thread))
        }
    }

    /// Handles everything posted if no thread can be started: transfers fail, and jobs go to the global executor, because a task
    /// never ends if its job is lost.
    private func refuseInbox() {
        _ = exchangeOwner(0, UInt(pthread_self()))
        repeat {
            let commands = takeCommands()
            for command in commands {
                if case .start(let transfer) = command {
                    transfer.fail(TransportError(.other, "no thread can be started for it"))
                } else {
                    execute(command)
                }
            }
            for job in jobs { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
            jobs.removeAll()
        } while !inbox.withLock({ inbox in
            guard inbox.jobs.isEmpty, inbox.commands.isEmpty else { return false }
            release(&inbox)
            return true
        })
    }

    // MARK: As the owner

    private func run() {
        let thread = UInt(pthread_self())
        starting.withLock { _ in }
        guard owner.load(ordering: .relaxed) == thread else { return }
        // A plugin's call that is stuck on this thread hands the loop over to another one.
        nevod_call_thread_drive(Unmanaged.passUnretained(self).toOpaque()) { loop in
            guard let loop else { return 0 }
            return Unmanaged<CurlLoop>.fromOpaque(loop).takeUnretainedValue().handOver() ? 1 : 0
        }
        defer { nevod_call_thread_drive(nil, nil) }
        while true {
            guard runJobs(on: thread) else { return }
            if let deadline, deadline <= nevod_monotonic_nanoseconds() {
                self.deadline = nil
                var running: Int32 = 0
                curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
                finishTransfers()
            }
            guard let timeout = nextTimeout() else { break }
            let ready = sockets.wait(milliseconds: timeout)
            takeCommands().forEach(execute)
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
            if ends { release(&inbox) }
            return (isIdle, ends)
        }
        if ends { return nil }
        guard isIdle else { return 0 }
        guard let deadline else { return -1 }
        // Rounded up: waking too early would make the loop spin.
        return Int32(clamping: max(0, (deadline - nevod_monotonic_nanoseconds() + 999_999) / 1_000_000))
    }

    /// Gives up the loop, so that the next work posted starts a thread.
    private func release(_ inbox: inout Inbox) {
        owner.store(0, ordering: .releasing)
        inbox.isRunning = false
    }

    /// Takes the jobs and commands posted; returns the commands.
    private func takeCommands() -> [Command] {
        inbox.withLock { inbox in
            inbox.isAsleep = false
            jobs.append(contentsOf: inbox.jobs)
            inbox.jobs.removeAll(keepingCapacity: true)
            defer { inbox.commands = [] }
            return inbox.commands
        }
    }

    /// - Returns: false if another thread became the owner during a job. That thread runs the remaining jobs.
    private func runJobs(on thread: UInt) -> Bool {
        // Jobs enqueued by these jobs run after the next network events.
        let count = jobs.count
        while nextJob < count {
            let job = jobs[nextJob]
            nextJob += 1
            owner.store(thread | Self.inJob, ordering: .releasing)
            job.runSynchronously(on: asUnownedTaskExecutor())
            guard exchangeOwner(thread | Self.inJob, thread) else { return false }
        }
        jobs.removeFirst(count)
        nextJob = 0
        return true
    }

    private func execute(_ command: Command) {
        switch command {
        case .start(let transfer): transfer.start(on: self)
        case .cancel(let transfer): transfer.cancel()
        case .pull(let transfer, let piece): transfer.pull(piece)
        case .upload(let transfer, let piece): transfer.upload(piece)
        }
    }

    // MARK: libcurl

    /// Takes a handle from the pool or creates one.
    func takeHandle() throws(TransportError) -> CurlHandle {
        if let idle = handles.popLast() { return idle }
        let handle = try makeHandle()
        sockets.own(handle.easy)
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

/// Global state of libcurl.
enum CurlLibrary {
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}

internal import CPluginCalls
internal import NevodStorage
internal import NevodSupport
internal import Synchronization

/// The work of a request with interceptors that may block their thread. It runs in a task of its own, so that the request can end
/// at its deadline, or when it is cancelled, while the work is still blocked. From then on the work is abandoned: once its
/// thread returns, it must send nothing and change nothing.
final class RequestWork: @unchecked Sendable {  // The atomic pointers are to memory that never changes.
    private struct State {
        var isAbandoned = false
        var releaseSlot: (@Sendable () -> Void)?
    }

    private let state = Locked(State())
    private let fail: @Sendable (NetworkError) -> Void
    // The call of a plugin in progress; no function if there is none. The memory is never freed.
    private let names = Atomic<UnsafePointer<nevod_call_names>?>(nil)
    private let function = Atomic<UnsafePointer<CChar>?>(nil)

    /// The time that the work gets after the deadline if no call of a plugin is in progress: transfers and waits end by themselves
    /// at the deadline, with errors that say more.
    private static let grace = Duration.milliseconds(100)

    private init(fail: @escaping @Sendable (NetworkError) -> Void) {
        self.fail = fail
    }

    /// Runs `body` in a task of its own, with the priority and the task-local values of the caller.
    ///
    /// - Throws: errors of `body`; ``NetworkError/cancelled``. At the deadline: ``NetworkError/plugin(_:)`` if a call of a plugin
    ///   is in progress, otherwise ``NetworkError/timeout(_:)``.
    static func run<Success: Sendable>(
        on executor: (any TaskExecutor)?, until deadline: ContinuousClock.Instant?,
        _ body: @escaping @Sendable (RequestWork) async throws(NetworkError) -> Success
    ) async throws(NetworkError) -> Success {
        let waiter = Waiter<Success>()
        let work = RequestWork { waiter.resume(with: .failure($0)) }
        let task = Task(executorPreference: executor) {
            do { waiter.resume(with: .success(try await body(work))) } catch { waiter.resume(with: .failure(error)) }
        }
        let timer = deadline.map { deadline in TimerQueue.shared.schedule(at: deadline) { work.expire(at: deadline) } }
        defer { if let timer { TimerQueue.shared.cancel(timer) } }
        do { return try await waiter.value(until: nil) } catch {
            work.abandon()
            task.cancel()
            throw error as? NetworkError ?? .cancelled
        }
    }

    /// Records a call of a plugin, or a wait for a thread to make it on. ``end()`` must follow.
    ///
    /// - Parameters:
    ///   - names: the library and the scheme; never freed.
    ///   - function: the name of the function; never freed.
    func begin(_ names: UnsafePointer<nevod_call_names>, _ function: UnsafePointer<CChar>) {
        self.names.store(names, ordering: .relaxed)
        self.function.store(function, ordering: .releasing)
    }

    /// Records that the call has returned.
    ///
    /// - Returns: false if the work was abandoned in the meantime; what the call has produced must then be dropped.
    func end() -> Bool {
        function.store(nil, ordering: .relaxed)
        return !isAbandoned
    }

    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// - Throws: ``NetworkError/cancelled`` if the work was abandoned.
    func check() throws(NetworkError) {
        if isAbandoned { throw .cancelled }
    }

    /// Calls `release` when the work is abandoned, so that a blocked request doesn't keep others from being sent.
    func releaseWhenAbandoned(_ release: @escaping @Sendable () -> Void) {
        state.withLock { $0.releaseSlot = release }
    }

    private func abandon() {
        let release = state.withLock { state in
            state.isAbandoned = true
            defer { state.releaseSlot = nil }
            return state.releaseSlot
        }
        release?()
    }

    private func expire(at deadline: ContinuousClock.Instant) {
        if let error = unreturned { return fail(.plugin(error)) }
        // Not cancelled with the first timer; if the work has ended by then, the error is dropped.
        _ = TimerQueue.shared.schedule(at: deadline + Self.grace) { [weak self] in
            guard let self else { return }
            self.fail(self.unreturned.map(NetworkError.plugin) ?? NetworkError(.deadlineExceeded))
        }
    }

    /// The error for the call in progress; nil if there is none.
    private var unreturned: PluginError? {
        guard let function = function.load(ordering: .acquiring), let names = names.load(ordering: .relaxed) else { return nil }
        return PluginError(
            String(cString: names.pointee.library),
            .unreturned(scheme: names.pointee.scheme.map { String(cString: $0) } ?? "", function: String(cString: function)))
    }
}

internal import CPluginCalls
internal import NevodStorage
internal import NevodSupport
internal import Synchronization

/// The work of a request with interceptors that may block their thread. It runs in a task of its own, so that the request can end
/// at its deadline, or when it is cancelled, while the work is still blocked. From then on the work is abandoned: once its
/// thread returns, it must send nothing and change nothing.
final class RequestWork: @unchecked Sendable {  // The atomic pointers are to memory that never changes.
    private let abandoned = Atomic<Bool>(false)
    private let yieldSlot = Locked<Exchange.YieldSlot?>(nil)
    private let fail: @Sendable (NetworkError) -> Void
    // The plugin call in progress; `function` is nil if there is none. The memory that both point to is never freed.
    private let names = Atomic<UnsafePointer<nevod_call_names>?>(nil)
    private let function = Atomic<UnsafePointer<CChar>?>(nil)
    private let deadline: ContinuousClock.Instant?
    /// The longest that a call may take; nil if the request's deadline limits it.
    private let callLimit: Duration?
    /// The timer of the call in progress, if calls are limited.
    private let timer = Locked<UInt64?>(nil)

    /// How long the work may run past the deadline if no plugin call is in progress: transfers and waits end at the deadline by
    /// themselves, with errors that say more.
    private static let grace = Duration.milliseconds(100)

    private init(
        until deadline: ContinuousClock.Instant?, callLimit: Duration?, fail: @escaping @Sendable (NetworkError) -> Void
    ) {
        self.deadline = deadline
        self.callLimit = callLimit
        self.fail = fail
    }

    /// Runs `body` in a task of its own, with the priority and the task-local values of the caller.
    ///
    /// - Parameter callLimit: the longest that one plugin call may take, for work without a deadline.
    /// - Throws: errors of `body`; ``NetworkError/cancelled``. At the deadline, or when a call exceeds its limit:
    ///   ``NetworkError/plugin(_:)`` if a plugin call is in progress, otherwise ``NetworkError/timeout(_:)``.
    static func run<Success: Sendable>(
        on executor: (any TaskExecutor)?, until deadline: ContinuousClock.Instant?, callLimit: Duration? = nil,
        _ body: @escaping @Sendable (RequestWork) async throws(NetworkError) -> Success
    ) async throws(NetworkError) -> Success {
        let outcome = Outcome<Success>()
        let work = RequestWork(until: deadline, callLimit: callLimit) { outcome.set(.failure($0)) }
        let task = Task(executorPreference: executor) {
            do throws(NetworkError) { outcome.set(.success(try await body(work))) } catch {
                outcome.set(.failure(work.naming(error)))
            }
        }
        let timer = deadline.map { deadline in TimerQueue.shared.schedule(at: deadline) { work.expire(at: deadline) } }
        defer { if let timer { TimerQueue.shared.cancel(timer) } }
        do { return try await outcome.value().get() } catch {
            work.abandon()
            task.cancel()
            throw error
        }
    }

    /// Whichever comes first: the work's result, its deadline or its cancellation. (A ``Waiter`` does the same for errors of any
    /// type. This one is in the same module, so the compiler specializes it, which makes each request cheaper.)
    private final class Outcome<Success: Sendable>: Sendable {
        typealias Value = Result<Success, NetworkError>

        private enum State {
            case new
            case awaited(UnsafeContinuation<Value, Never>)
            case set(Value)
        }

        private let state = Locked(State.new)

        func set(_ value: Value) {
            let continuation = state.withLock { state -> UnsafeContinuation<Value, Never>? in
                switch state {
                case .set: return nil
                case .new:
                    state = .set(value)
                    return nil
                case .awaited(let continuation):
                    state = .set(value)
                    return continuation
                }
            }
            continuation?.resume(returning: value)
        }

        func value() async -> Value {
            await withTaskCancellationHandler {
                await withUnsafeContinuation { continuation in
                    let value = state.withLock { state -> Value? in
                        if case .set(let value) = state { return value }
                        state = .awaited(continuation)
                        return nil
                    }
                    if let value { continuation.resume(returning: value) }
                }
            } onCancel: {
                set(.failure(.cancelled))
            }
        }
    }

    /// Records a plugin call, or the wait for a thread that makes it. ``end()`` must follow.
    ///
    /// - Parameters:
    ///   - names: the library and the scheme; never freed.
    ///   - function: the name of the function; never freed.
    func begin(_ names: UnsafePointer<nevod_call_names>, _ function: UnsafePointer<CChar>) {
        self.names.store(names, ordering: .relaxed)
        self.function.store(function, ordering: .releasing)
        guard let callLimit else { return }
        let scheduled = TimerQueue.shared.schedule(at: .now + callLimit) { [weak self] in
            if let self, let error = self.unreturned { self.fail(.plugin(error)) }
        }
        replaceTimer(by: scheduled)
    }

    /// Records that the call has returned.
    ///
    /// - Returns: false if the work was abandoned in the meantime; the call's results must then be dropped.
    func end() -> Bool {
        function.store(nil, ordering: .relaxed)
        if callLimit != nil { replaceTimer(by: nil) }
        return !isAbandoned
    }

    private func replaceTimer(by scheduled: UInt64?) {
        let last = timer.withLock { timer in
            defer { timer = scheduled }
            return timer
        }
        if let last { TimerQueue.shared.cancel(last) }
    }

    /// Whether the deadline has passed, allowing for a transport that counts in milliseconds.
    var isOver: Bool { deadline.map { ContinuousClock.now + .milliseconds(10) >= $0 } ?? false }

    /// Replaces a timeout by an error that names the call in progress: a transport may notice the deadline first.
    private func naming(_ error: NetworkError) -> NetworkError {
        guard case .timeout = error, isOver, let unreturned else { return error }
        return .plugin(unreturned)
    }

    var isAbandoned: Bool { abandoned.load(ordering: .relaxed) }

    /// - Throws: ``NetworkError/cancelled`` if the work was abandoned.
    func check() throws(NetworkError) {
        if isAbandoned { throw .cancelled }
    }

    /// Releases the slot of the request when the work is abandoned, so that a blocked request doesn't keep others from being sent.
    func yieldSlotWhenAbandoned(_ yieldSlot: @escaping Exchange.YieldSlot) {
        self.yieldSlot.withLock { $0 = yieldSlot }
    }

    private func abandon() {
        abandoned.store(true, ordering: .relaxed)
        let yieldSlot = yieldSlot.withLock { yieldSlot in
            defer { yieldSlot = nil }
            return yieldSlot
        }
        // The slot is never acquired again.
        _ = yieldSlot?()
    }

    private func expire(at deadline: ContinuousClock.Instant) {
        if let error = unreturned { return fail(.plugin(error)) }
        // This timer isn't cancelled with the first one. If the work has ended by then, the error is dropped.
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

internal import NevodStorage
internal import NevodSupport

/// A person's presence, confirmed by a ``PresenceCheck`` and valid for a time. (A ``PresenceInterceptor``, in contrast, demands it of
/// requests.)
///
/// ```swift
/// let presence = Presence(check: check, validFor: .seconds(300), reason: "Confirm that it is you")
/// try await presence.confirm()
/// ```
///
/// The time is the device's uptime, suspension included: a changed wall clock doesn't prolong it. It is kept in memory, so a program
/// that starts again asks again.
public final class Presence: Sendable {
    /// How long a confirmation counts, from the moment at which the check succeeded.
    public let validFor: Duration
    private let check: any PresenceCheck
    private let reason: String
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Locked(PresenceState<Waiter<Void>>())
    /// The checks under way by their numbers: one, those from before a ``forget()``, and those that were cancelled and haven't ended yet.
    private let checks = Locked<[Int: Task<Void, Never>]>([:])

    /// - Parameters:
    ///   - check: asks the person.
    ///   - validFor: how long a confirmation counts. With zero, only the callers that waited for it share one.
    ///   - reason: what the confirmation is for, as a sentence for the person.
    public convenience init(check: some PresenceCheck, validFor: Duration = .seconds(300), reason: String) {
        self.init(check: check, validFor: validFor, reason: reason, now: { ContinuousClock.now })
    }

    init(
        check: any PresenceCheck, validFor: Duration, reason: String,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.check = check
        self.validFor = validFor
        self.reason = reason
        self.now = now
    }

    /// Whether a confirmation counts now. Never asks.
    public var isConfirmed: Bool {
        let now = now()
        return state.withLock { $0.isConfirmed(within: validFor, at: now) }
    }

    /// Returns if a confirmation still counts; otherwise asks, once for all concurrent callers.
    ///
    /// A caller that is cancelled stops waiting. When the last one does, the check is cancelled.
    ///
    /// - Throws: the check's error, for all callers that waited for it; the next caller asks again.
    public func confirm() async throws(PresenceError) {
        do {
            try await confirm(until: nil)
        } catch let error as PresenceError {
            throw error
        } catch {
            throw PresenceError(.cancelled, "\(type(of: check))", problem: "was cancelled with its task")
        }
    }

    /// - Throws: `PresenceError`; `CancellationError`; `DeadlineExceededError`.
    func confirm(until deadline: ContinuousClock.Instant?) async throws {
        guard !Self.asked.contains(ObjectIdentifier(self)) else {
            throw PresenceError(
                .unavailable, "\(type(of: check))", problem: "needs the presence that it is about to confirm",
                remedy: "send its own requests with a client that demands none")
        }
        let waiter = Waiter<Void>()
        let now = now()
        let (step, caller) = state.withLock { $0.join(waiter, within: validFor, at: now) }
        switch step {
        case .proceed: return
        case .wait: break
        case .start(let number): start(number)
        }
        defer { leave(caller) }
        try await waiter.value(until: deadline)
    }

    /// Counts from now, as if the check had succeeded: for an app whose login has just proved who the person is.
    public func confirmByLogin() {
        let now = now()
        state.withLock { $0.confirm(at: now) }
    }

    /// Forgets the confirmation, as when the app is locked: the next use asks again. Tokens stay stored. A check under way counts
    /// only for those that wait for it; a later caller starts another one at once.
    public func forget() {
        state.withLock { $0.forget() }
    }

    /// Whether nothing has been forgotten since the last confirmation, however long ago that was.
    var isRemembered: Bool { state.withLock { $0.confirmed != nil } }

    /// The number of callers that wait for a check.
    var waitingCount: Int { state.withLock { $0.waitingCount } }

    /// The number of checks that haven't ended.
    var checkCount: Int { checks.withLock { $0.count } }

    /// The presences whose check runs in this task.
    @TaskLocal private static var asked: Set<ObjectIdentifier> = []

    private func start(_ number: Int) {
        checks.withLock { checks in
            // Stored before it can end, since its end takes the lock.
            checks[number] = Task {
                let outcome: Result<Void, any Error>
                let asked = Self.asked.union([ObjectIdentifier(self)])
                do {
                    try await Self.$asked.withValue(asked) { try await check.confirm(reason: reason) }
                    outcome = .success(())
                } catch {
                    outcome = .failure(error)
                }
                let confirmed: ContinuousClock.Instant? = if case .success = outcome { now() } else { nil }
                for waiter in state.withLock({ $0.end(number, confirmed: confirmed) }) { waiter.resume(with: outcome) }
                self.checks.withLock { $0[number] = nil }
            }
        }
    }

    private func leave(_ caller: UInt64) {
        guard let number = state.withLock({ $0.leave(caller) }) else { return }
        checks.withLock { $0[number] }?.cancel()
    }
}

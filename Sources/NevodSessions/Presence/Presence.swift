internal import NevodStorage
internal import NevodSupport

/// A person's presence, confirmed by a ``PresenceCheck`` and valid for a time. (A ``PresenceInterceptor``, in contrast, makes
/// requests wait for it.)
///
/// ```swift
/// let presence = Presence(check: check, validFor: .seconds(300), reason: "Confirm that it is you")
/// try await presence.confirm()
/// ```
///
/// Time is measured by the device's uptime, including suspension, so changing the wall clock doesn't prolong a confirmation. A
/// confirmation is kept only in memory: a restarted program asks again.
public final class Presence: Sendable {
    /// How long a confirmation counts after the check has succeeded.
    public let validFor: Duration
    private let check: any PresenceCheck
    private let reason: String
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Locked(PresenceState<Waiter<Void>>())
    /// The checks under way by number: the current one, checks from before a ``forget()``, and cancelled checks that haven't
    /// ended yet.
    private let checks = Locked<[Int: Task<Void, Never>]>([:])

    /// - Parameters:
    ///   - check: asks the person.
    ///   - validFor: how long a confirmation counts. With zero, it counts only for the callers that waited for it.
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

    /// Returns at once if a confirmation still counts; otherwise asks, once for all concurrent callers.
    ///
    /// A cancelled caller stops waiting. When no caller is left, the check is cancelled.
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
                remedy: "send its own requests with a client that needs no presence")
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

    /// Confirms the presence now, as if the check had succeeded, for an app whose login has just proved the person's identity.
    public func confirmByLogin() {
        let now = now()
        state.withLock { $0.confirm(at: now) }
    }

    /// Forgets the confirmation, for example when the app is locked: the next use asks again. Tokens stay stored. A check under
    /// way counts only for the callers that already wait for it; a later caller starts another check at once.
    public func forget() {
        state.withLock { $0.forget() }
    }

    /// Whether there is a confirmation that wasn't forgotten, however old it is.
    var isRemembered: Bool { state.withLock { $0.confirmed != nil } }

    /// The number of callers that wait for a check.
    var waitingCount: Int { state.withLock { $0.waitingCount } }

    /// The number of checks that haven't ended.
    var checkCount: Int { checks.withLock { $0.count } }

    /// The presences that this task is checking.
    @TaskLocal private static var asked: Set<ObjectIdentifier> = []

    private func start(_ number: Int) {
        checks.withLock { checks in
            // The task is stored before it can end, because its end takes the same lock.
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

/// The state of a presence: a state machine without I/O. Its methods return what to do outside the lock.
struct PresenceState<Caller> {
    typealias Instant = ContinuousClock.Instant

    /// The next step of a caller of ``Presence/confirm()``.
    enum Step: Equatable {
        /// A confirmation still counts.
        case proceed
        /// Waits for the check under way.
        case wait
        /// Starts the check with this number, and waits for it.
        case start(Int)
    }

    /// When the last check succeeded; nil if none has since the last ``forget()``.
    private(set) var confirmed: Instant?
    /// The number of the last check.
    private var number = 0
    /// The check under way that later callers join; nil if there is none.
    private var asking: Int?
    /// The callers, each with the number of its check.
    private var waiting: [UInt64: (check: Int, caller: Caller)] = [:]
    private var lastCaller: UInt64 = 0

    var waitingCount: Int { waiting.count }

    /// Whether there is a confirmation of at most this age.
    func isConfirmed(within duration: Duration, at now: Instant) -> Bool {
        confirmed.map { now - $0 <= duration } ?? false
    }

    /// - Returns: what to do, and the caller's number for ``leave(_:)``.
    mutating func join(_ caller: Caller, within duration: Duration, at now: Instant) -> (Step, UInt64) {
        // With a duration of zero, the caller always waits for a check, even if another one succeeded at this very instant.
        if duration > .zero, isConfirmed(within: duration, at: now) { return (.proceed, 0) }
        lastCaller += 1
        if let asking {
            waiting[lastCaller] = (asking, caller)
            return (.wait, lastCaller)
        }
        number += 1
        asking = number
        waiting[lastCaller] = (number, caller)
        return (.start(number), lastCaller)
    }

    /// Removes a caller that was cancelled.
    ///
    /// - Returns: the number of the check to cancel, if no caller waits for it any more; otherwise nil.
    mutating func leave(_ caller: UInt64) -> Int? {
        guard let check = waiting.removeValue(forKey: caller)?.check, !waiting.values.contains(where: { $0.check == check })
        else { return nil }
        // The next caller starts another check.
        if asking == check { asking = nil }
        return check
    }

    /// Ends a check.
    ///
    /// - Parameter confirmed: when it succeeded; nil if it failed.
    /// - Returns: the callers that waited for it.
    mutating func end(_ check: Int, confirmed: Instant?) -> [Caller] {
        if asking == check {
            asking = nil
            if let confirmed { self.confirmed = confirmed }
        }
        let ended = waiting.filter { $0.value.check == check }
        for caller in ended.keys { waiting[caller] = nil }
        return ended.values.map(\.caller)
    }

    /// Confirms the presence now, without a check.
    mutating func confirm(at now: Instant) {
        confirmed = now
    }

    /// Forgets the confirmation. A check under way, which may have succeeded already, then counts only for the callers that wait
    /// for it. Later callers start another one.
    mutating func forget() {
        confirmed = nil
        asking = nil
    }
}

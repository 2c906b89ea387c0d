import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodSessions

/// A check that a test opens and answers.
final class ManualCheck: PresenceCheck {
    let asked = Collected<String>()
    let cancelled = Collected<Int>()
    private let waiting = Locked<[CheckedContinuation<PresenceError?, Never>]>([])

    var openCount: Int { waiting.withLock { $0.count } }

    func confirm(reason: String) async throws(PresenceError) {
        let error = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.withLock { $0.append(continuation) }
                asked.append(reason)
            }
        } onCancel: {
            cancelled.append(1)
            answer(PresenceError(.cancelled, "the test", problem: "was cancelled"))
        }
        if let error { throw error }
    }

    /// Answers all questions that are open.
    func answer(_ error: PresenceError? = nil) {
        let all = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for continuation in all { continuation.resume(returning: error) }
    }

    /// Waits until it is asked for the nth time, and then answers.
    func answer(_ count: Int, _ error: PresenceError? = nil) async {
        #expect(await eventually { asked.values.count == count && openCount == 1 })
        answer(error)
    }
}

/// A check that a test ends. It doesn't respond to cancellation.
final class StubbornCheck: PresenceCheck {
    let asked = Collected<Latch>()
    /// The numbers of the cancelled checks, from zero.
    let cancelled = Collected<Int>()

    func confirm(reason: String) async throws(PresenceError) {
        let latch = Latch()
        asked.append(latch)
        await withTaskCancellationHandler {
            await latch.wait()
        } onCancel: {
            cancelled.append(asked.values.firstIndex { $0 === latch } ?? -1)
        }
    }
}

/// An uptime that a test moves.
final class ManualUptime: Sendable {
    private let offset = Locked(Duration.zero)
    private let start = ContinuousClock.now

    var now: ContinuousClock.Instant { start + offset.withLock { $0 } }
    func advance(_ duration: Duration) { offset.withLock { $0 += duration } }
}

struct PresenceTests {
    private let check = ManualCheck()
    private let uptime = ManualUptime()
    private let refusal = PresenceError(.refused, "the test", problem: "says no")

    private func presence(_ validFor: Duration = .seconds(60)) -> Presence {
        Presence(check: check, validFor: validFor, reason: "why", now: { [uptime] in uptime.now })
    }

    private func outcome(_ presence: Presence) -> Task<PresenceError?, Never> {
        Task {
            do throws(PresenceError) {
                try await presence.confirm()
                return nil
            } catch {
                return error
            }
        }
    }

    @Test func `A confirmation counts for its time, from the check's end`() async throws {
        let presence = presence()
        let first = outcome(presence)
        #expect(await eventually { check.openCount == 1 })
        uptime.advance(.seconds(1000))
        check.answer()
        #expect(await first.value == nil)
        uptime.advance(.seconds(60))
        #expect(presence.isConfirmed)
        try await presence.confirm()
        #expect(check.asked.values == ["why"])
        uptime.advance(.nanoseconds(1))
        #expect(!presence.isConfirmed)
        let second = outcome(presence)
        await check.answer(2)
        #expect(await second.value == nil)
    }

    @Test func `Using a confirmation doesn't prolong it`() async throws {
        let presence = presence()
        async let first: Void = presence.confirm()
        await check.answer(1)
        try await first
        for _ in 0..<6 {
            uptime.advance(.seconds(10))
            try await presence.confirm()
        }
        uptime.advance(.seconds(1))
        #expect(!presence.isConfirmed)
    }

    @Test(arguments: [false, true]) func `Concurrent callers share one question and its outcome`(isRefused: Bool) async throws {
        let presence = presence()
        let outcomes = (0..<100).map { _ in outcome(presence) }
        #expect(await eventually { presence.waitingCount == 100 })
        await check.answer(1, isRefused ? refusal : nil)
        for outcome in outcomes { #expect(await outcome.value == (isRefused ? refusal : nil)) }
        #expect(check.asked.values.count == 1)
        // A failure is not remembered.
        #expect(presence.isConfirmed != isRefused)
        guard isRefused else { return }
        let next = outcome(presence)
        await check.answer(2)
        #expect(await next.value == nil)
    }

    @Test func `With no time, each caller asks, and concurrent ones share`() async throws {
        let presence = presence(.zero)
        for count in 1...3 {
            let (one, other) = (outcome(presence), outcome(presence))
            #expect(await eventually { presence.waitingCount == 2 })
            await check.answer(count)
            #expect(await one.value == nil)
            #expect(await other.value == nil)
        }
    }

    @Test func `Forgetting asks again`() async throws {
        let presence = presence()
        presence.confirmByLogin()
        try await presence.confirm()
        #expect(check.asked.values.isEmpty)
        presence.forget()
        #expect(!presence.isConfirmed)
        let next = outcome(presence)
        await check.answer(1)
        #expect(await next.value == nil)
        #expect(presence.isConfirmed)
    }

    @Test func `A check that was under way when all was forgotten counts for its callers alone`() async throws {
        let presence = presence()
        let first = outcome(presence)
        #expect(await eventually { check.openCount == 1 })
        presence.forget()
        check.answer()
        #expect(await first.value == nil)
        #expect(!presence.isConfirmed)
        let second = outcome(presence)
        await check.answer(2)
        #expect(await second.value == nil)
        #expect(presence.isConfirmed)
    }

    @Test(arguments: [false, true])
    func `A caller after all was forgotten gets a check of its own`(isCancelled: Bool) async throws {
        let check = StubbornCheck()
        let presence = Presence(check: check, validFor: .seconds(60), reason: "why")
        let first = outcome(presence)
        #expect(await eventually { check.asked.values.count == 1 })
        presence.forget()
        let second = outcome(presence)
        try #require(await eventually { presence.waitingCount == 2 })
        if isCancelled {
            // The last caller of the earlier check closes only that check.
            first.cancel()
            #expect(await first.value?.code == .cancelled)
            #expect(await eventually { check.cancelled.values == [0] })
        }
        check.asked.values[0].set()
        if !isCancelled { #expect(await first.value == nil) }
        #expect(await eventually { check.asked.values.count == 2 && presence.checkCount == 1 })
        #expect(!presence.isConfirmed && presence.waitingCount == 1)
        // Later callers share the later check.
        let third = outcome(presence)
        #expect(await eventually { presence.waitingCount == 2 })
        try #require(check.asked.values.count == 2)
        check.asked.values[1].set()
        #expect(await second.value == nil)
        #expect(await third.value == nil)
        #expect(presence.isConfirmed && check.asked.values.count == 2)
    }

    @Test func `A cancelled caller leaves the others waiting; the last one closes the question`() async throws {
        let presence = presence()
        let (one, other) = (outcome(presence), outcome(presence))
        #expect(await eventually { presence.waitingCount == 2 })
        one.cancel()
        #expect(await one.value?.code == .cancelled)
        #expect(check.cancelled.values.isEmpty)
        other.cancel()
        #expect(await other.value?.code == .cancelled)
        #expect(await eventually { check.cancelled.values.count == 1 })
        // The next caller gets its own question.
        let next = outcome(presence)
        await check.answer(2)
        #expect(await next.value == nil)
    }

    @Test func `The end of a check that was given up confirms nothing`() async throws {
        let check = StubbornCheck()
        let presence = Presence(check: check, validFor: .seconds(60), reason: "why")
        let first = outcome(presence)
        #expect(await eventually { check.asked.values.count == 1 })
        first.cancel()
        #expect(await first.value?.code == .cancelled)
        let second = outcome(presence)
        #expect(await eventually { check.asked.values.count == 2 })
        check.asked.values[0].set()
        #expect(await eventually { presence.checkCount == 1 })
        #expect(!presence.isConfirmed && presence.waitingCount == 1)
        check.asked.values[1].set()
        #expect(await second.value == nil)
        #expect(presence.isConfirmed)
    }

    @Test func `A check that needs its own presence fails instead of waiting for itself`() async throws {
        final class Circular: PresenceCheck {
            let presence = Locked<Presence?>(nil)
            func confirm(reason: String) async throws(PresenceError) { try await presence.withLock { $0 }?.confirm() }
        }
        let check = Circular()
        let presence = Presence(check: check, reason: "why")
        check.presence.withLock { $0 = presence }
        #expect(await outcome(presence).value?.problem == "needs the presence that it is about to confirm")
        check.presence.withLock { $0 = nil }
    }

    @Test func `Interleaved callers, cancellations and locks never leave a caller waiting`() async throws {
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let (check, uptime) = (ManualCheck(), ManualUptime())
            let presence = Presence(check: check, validFor: .seconds(5), reason: "why", now: { uptime.now })
            var tasks: [Task<PresenceError?, Never>] = []
            for _ in 0..<40 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0...3: tasks.append(outcome(presence))
                case 4: tasks.randomElement(using: &random)?.cancel()
                case 5: check.answer(Bool.random(using: &random) ? refusal : nil)
                case 6: presence.forget()
                default: uptime.advance(.seconds(Int.random(in: 0...9, using: &random)))
                }
                await Task.yield()
            }
            let pending = tasks
            let all = Task { for task in pending { _ = await task.value } }
            let isDone = Locked(false)
            Task {
                await all.value
                isDone.withLock { $0 = true }
            }
            #expect(
                await eventually {
                    check.answer()
                    return isDone.withLock { $0 }
                }, "seed \(seed)")
            #expect(presence.waitingCount == 0)
        }
    }
}

import NevodTestSupport
import Testing

@testable import NevodStorage

struct TimerQueueTests {
    @Test func `Timers fire once each, in the order of their deadlines, whatever the order of scheduling`() async throws {
        let timers = TimerQueue()
        let fired = Collected<Int>()
        let now = ContinuousClock.now
        _ = timers.schedule(at: now + .milliseconds(40)) { fired.append(2) }
        _ = timers.schedule(at: now + .milliseconds(20)) { fired.append(1) }
        _ = timers.schedule(at: now + .milliseconds(60)) { fired.append(3) }
        #expect(await eventually { fired.values.count == 3 })
        #expect(fired.values == [1, 2, 3])
        // When the queue is empty, a new timer starts it again.
        _ = timers.schedule(at: .now) { fired.append(4) }
        #expect(await eventually { fired.values.count == 4 })
    }

    @Test func `A cancelled timer does not fire`() async throws {
        let timers = TimerQueue()
        let fired = Collected<Int>()
        let now = ContinuousClock.now
        let cancelled = timers.schedule(at: now + .milliseconds(1)) { fired.append(1) }
        timers.cancel(cancelled)
        _ = timers.schedule(at: now + .milliseconds(30)) { fired.append(2) }
        #expect(await eventually { !fired.values.isEmpty })
        #expect(fired.values == [2])
    }
}

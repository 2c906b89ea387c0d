import Testing

@testable import NevodHost
@testable import NevodStorage

struct AlarmsTests {
    @Test func `Each rings once, the earlier one first, whichever was set first`() async throws {
        let timers = TimerQueue()
        let rung = Collected<Int>()
        let now = ContinuousClock.now
        _ = timers.schedule(at: now + .milliseconds(40)) { rung.append(2) }
        _ = timers.schedule(at: now + .milliseconds(20)) { rung.append(1) }
        _ = timers.schedule(at: now + .milliseconds(60)) { rung.append(3) }
        #expect(await eventually { rung.values.count == 3 })
        #expect(rung.values == [1, 2, 3])
        // When all have rung, the next one starts anew.
        _ = timers.schedule(at: .now) { rung.append(4) }
        #expect(await eventually { rung.values.count == 4 })
    }

    @Test func `One that is cancelled doesn't ring`() async throws {
        let timers = TimerQueue()
        let rung = Collected<Int>()
        let now = ContinuousClock.now
        let cancelled = timers.schedule(at: now + .milliseconds(1)) { rung.append(1) }
        timers.cancel(cancelled)
        _ = timers.schedule(at: now + .milliseconds(30)) { rung.append(2) }
        #expect(await eventually { !rung.values.isEmpty })
        #expect(rung.values == [2])
    }
}

import Testing

@testable import NevodHost

struct AlarmsTests {
    @Test func `Each rings once, the earlier one first, whichever was set first`() async throws {
        let alarms = Alarms()
        let rung = Collected<Int>()
        let now = ContinuousClock.now
        _ = alarms.set(at: now + .milliseconds(40)) { rung.append(2) }
        _ = alarms.set(at: now + .milliseconds(20)) { rung.append(1) }
        _ = alarms.set(at: now + .milliseconds(60)) { rung.append(3) }
        #expect(await eventually { rung.values.count == 3 })
        #expect(rung.values == [1, 2, 3])
        // When all have rung, the next one starts anew.
        _ = alarms.set(at: .now) { rung.append(4) }
        #expect(await eventually { rung.values.count == 4 })
    }

    @Test func `One that is cancelled doesn't ring`() async throws {
        let alarms = Alarms()
        let rung = Collected<Int>()
        let now = ContinuousClock.now
        let cancelled = alarms.set(at: now + .milliseconds(1)) { rung.append(1) }
        alarms.cancel(cancelled)
        _ = alarms.set(at: now + .milliseconds(30)) { rung.append(2) }
        #expect(await eventually { !rung.values.isEmpty })
        #expect(rung.values == [2])
    }
}

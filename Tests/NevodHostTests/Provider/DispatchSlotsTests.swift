import NevodStorage
import NevodTestSupport
import Testing

@testable import NevodHost

struct DispatchSlotsTests {
    private func origin(_ host: String = "h") throws -> Origin { try HTTPRequest(.get, "http://\(host)/").origin }

    @Test func `No more than the limit at one origin, in the order of arrival`() async throws {
        let slots = DispatchSlots(limit: 2)
        let origin = try origin()
        let held = [try await slots.acquire(for: origin, until: nil), try await slots.acquire(for: origin, until: nil)]
        let order = Collected<Int>()
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<5 {
            tasks.append(
                Task {
                    let slot = try await slots.acquire(for: origin, until: nil)
                    order.append(number)
                    slot.release()
                })
            #expect(await eventually { slots.waitingCount(origin) == number + 1 })
        }
        // Another origin is not affected.
        try await slots.acquire(for: self.origin("other"), until: nil).release()
        #expect(order.values.isEmpty)
        held[0].release()
        for task in tasks { try await task.value }
        #expect(order.values == [0, 1, 2, 3, 4])
        held[1].release()
        #expect(slots.isUnused)
    }

    @Test func `A waiter that is cancelled, or whose deadline passes, leaves the slot to the next`() async throws {
        let slots = DispatchSlots(limit: 1)
        let origin = try origin()
        let held = try await slots.acquire(for: origin, until: nil)
        let cancelled = Task { _ = try await slots.acquire(for: origin, until: nil) }
        #expect(await eventually { slots.waitingCount(origin) == 1 })
        let last = Task { try await slots.acquire(for: origin, until: nil).release() }
        #expect(await eventually { slots.waitingCount(origin) == 2 })
        await #expect(throws: DeadlineExceededError()) { try await slots.acquire(for: origin, until: .now + .milliseconds(1)) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        held.release()
        try await last.value
        #expect(slots.isUnused)
    }

    @Test func `A slot that is dropped is given back`() async throws {
        let slots = DispatchSlots(limit: 1)
        _ = try await slots.acquire(for: origin(), until: nil)
        #expect(slots.isUnused)
    }

    @Test func `A request on behalf of another one takes none`() async throws {
        let slots = DispatchSlots(limit: 1)
        let held = try await slots.acquire(for: origin(), until: nil)
        try await DispatchSlots.$isNested.withValue(true) { _ = try await slots.acquire(for: origin(), until: nil) }
        held.release()
    }
}

import Testing

@testable import NevodHost

struct FlowCountTests {
    private func first(_ steps: [(FlowAction, FlowEvent)], _ limits: FlowLimits) -> String? {
        var count = FlowCount(limits)
        return steps.lazy.compactMap { count.add($0.0, after: $0.1) }.first
    }

    @Test func `The limits are the contract's`() {
        let limits = FlowLimits()
        #expect(limits.steps == 100 && limits.waits == 2000 && limits.bytes == 8 << 20 && limits.duration == .seconds(3600))
    }

    @Test func `Each limit holds exactly`() {
        let shows = Array(repeating: (FlowAction.show(text: "", url: ""), FlowEvent.shown), count: 101)
        #expect(first(Array(shows.prefix(100)), FlowLimits()) == nil)
        #expect(first(shows, FlowLimits()) == "it took more than 100 steps")
        let waits = Array(repeating: (FlowAction.wait(.zero), FlowEvent.timer), count: 2001)
        #expect(first(Array(waits.prefix(2000)), FlowLimits()) == nil)
        #expect(first(waits, FlowLimits()) == "it waited more than 2000 times")
        // After all steps are used up, a flow may still wait, and finish after the wait.
        let more = shows.prefix(100) + [waits[0], (FlowAction.browse(url: ""), .timer)]
        #expect(first(Array(more), FlowLimits()) == nil)
        #expect(first(more + [shows[0]], FlowLimits()) == "it took more than 100 steps")
    }
}

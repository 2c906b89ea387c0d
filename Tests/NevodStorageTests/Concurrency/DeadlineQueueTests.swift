import NevodTestSupport
import Testing

@testable import NevodStorage

struct DeadlineQueueTests {
    private let start = ContinuousClock.now

    @Test func `Due values come out in the order of their deadlines, and no others`() {
        var random = SeededRandom(seed: 4)
        var queue = DeadlineQueue<Int>()
        let times = (0..<1000).map { _ in Int.random(in: 0..<500, using: &random) }
        for time in times { _ = queue.insert(time, at: start + .milliseconds(time)) }
        #expect(queue.earliest == start + .milliseconds(times.min() ?? 0))
        #expect(queue.popDue(now: start + .milliseconds(249)) == times.filter { $0 < 250 }.sorted())
        #expect(queue.earliest == times.filter { $0 >= 250 }.min().map { start + .milliseconds($0) })
        #expect(queue.popDue(now: start + .seconds(1)) == times.filter { $0 >= 250 }.sorted())
        #expect(queue.earliest == nil)
        #expect(queue.heapCount == 0)
    }

    @Test func `A removed value never comes out, and its memory is reclaimed`() {
        var random = SeededRandom(seed: 5)
        var queue = DeadlineQueue<Int>()
        var kept: [Int] = []
        for value in 0..<10_000 {
            let number = queue.insert(value, at: start + .milliseconds(Int.random(in: 0..<500, using: &random)))
            if value % 100 == 0 { kept.append(value) } else { queue.remove(number) }
            queue.remove(number + 1)
        }
        #expect(queue.heapCount <= 2 * kept.count + 64)
        #expect(queue.popDue(now: start + .seconds(1)).sorted() == kept)
    }

    @Test func `The earliest deadline is one that was not removed`() {
        var queue = DeadlineQueue<Int>()
        let first = queue.insert(1, at: start)
        _ = queue.insert(2, at: start + .seconds(2))
        queue.remove(first)
        #expect(queue.earliest == start + .seconds(2))
    }
}

import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct RateLimiterTests {
    // MARK: The queue

    /// For random arrivals, no window of the interval's length contains more requests than the limit.
    @Test(arguments: [(10, 1000, nil), (10, 1000, 1), (10, 1000, 5), (1, 100, nil), (3, 50, 3)] as [(Int, Int, Int?)])
    func `No window of time exceeds the limit`(requests: Int, milliseconds: Int, burst: Int?) {
        let configuration = RateLimitConfiguration(requests: requests, per: .milliseconds(milliseconds), burst: burst)
        var queue = RateLimitQueue<Int>(configuration)
        var random = SeededRandom(seed: 11)
        var starts: [Duration] = []
        var order: [Int] = []
        var arrived = 0
        for millisecond in 0..<10_000 {
            let now = Duration.milliseconds(millisecond)
            for _ in 0..<(Int.random(in: 0..<50, using: &random) == 0 ? 3 : 0) where arrived < 300 {
                if queue.startImmediately(now: now) {
                    starts.append(now)
                    order.append(arrived)
                } else {
                    _ = queue.append(arrived)
                }
                arrived += 1
            }
            let going = queue.advance(now: now).started
            starts += going.map { _ in now }
            order += going
        }
        #expect(order == Array(0..<order.count))
        #expect(starts.count > 80)
        for (index, start) in starts.enumerated() where index >= requests {
            #expect(start - starts[index - requests] >= .milliseconds(milliseconds))
        }
        let atOnce = burst ?? requests
        for (index, start) in starts.enumerated() where index >= atOnce { #expect(start > starts[index - atOnce]) }
    }

    @Test func `The queue gives the exact time of the next request`() {
        var queue = RateLimitQueue<Int>(RateLimitConfiguration(requests: 2, interval: 1.0))
        let atOnce = [0, 300, 999].map { queue.startImmediately(now: .milliseconds($0)) }
        #expect(atOnce == [true, true, false])
        _ = queue.append(1)
        _ = queue.append(2)
        let early = queue.advance(now: .milliseconds(400))
        #expect(early.started.isEmpty && early.pause == .milliseconds(600))
        let first = queue.advance(now: .seconds(1))
        #expect(first.started == [1] && first.pause == .milliseconds(300))
        // No request overtakes a waiting one.
        let overtakes = queue.startImmediately(now: .seconds(5))
        #expect(!overtakes)
        let second = queue.advance(now: .seconds(5))
        #expect(second.started == [2] && second.pause == nil)
    }

    // MARK: The limiter

    private func limiter(_ requests: Int, _ clock: ManualClock) -> RateLimiter {
        RateLimiter(RateLimitConfiguration(requests: requests, per: .seconds(1)), clock: clock)
    }

    /// Starts tasks one after another. Each starts when the previous one waits.
    private func waiters(_ numbers: Range<Int>, _ limiter: RateLimiter, _ gone: Collected<Int>) async -> [Task<Void, any Error>] {
        var tasks: [Task<Void, any Error>] = []
        let before = limiter.waiting
        for number in numbers {
            tasks.append(
                Task {
                    try await limiter.acquire()
                    gone.append(number)
                })
            #expect(await eventually { limiter.waiting == before + tasks.count })
        }
        return tasks
    }

    @Test func `Requests are served in order, with one timer`() async throws {
        let clock = ManualClock()
        let limiter = limiter(1, clock)
        let gone = Collected<Int>()
        try await limiter.acquire()
        let tasks = await waiters(0..<20, limiter, gone)
        for second in 1...20 {
            #expect(await eventually { clock.sleepers == 1 })
            #expect(clock.nextDeadline?.offset == .seconds(second))
            clock.advance(by: .milliseconds(999))
            #expect(gone.values.count == second - 1)
            clock.advance(by: .milliseconds(1))
            #expect(await eventually { gone.values.count == second })
        }
        for task in tasks { try await task.value }
        #expect(gone.values == Array(0..<20))
        #expect(limiter.waiting == 0 && clock.sleepers == 0)
    }

    @Test func `A cancelled waiter leaves at once, and later ones move up`() async throws {
        let clock = ManualClock()
        let limiter = limiter(1, clock)
        let gone = Collected<Int>()
        try await limiter.acquire()
        let tasks = await waiters(0..<4, limiter, gone)
        for number in [0, 2] {
            tasks[number].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[number].value }
        }
        #expect(limiter.waiting == 2)
        for (second, number) in [(1, 1), (2, 3)] {
            #expect(await eventually { clock.nextDeadline?.offset == .seconds(second) })
            clock.advance(by: .seconds(1))
            #expect(await eventually { gone.values.last == number })
        }
        #expect(gone.values == [1, 3])
    }

    @Test func `A task that is already cancelled doesn't wait`() async {
        let limiter = limiter(1, ManualClock())
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await limiter.acquire()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // It used no turn.
        await #expect(throws: Never.self) { try await limiter.acquire() }
    }

    @Test func `10,000 waiters that leave in any order leave no memory behind`() async throws {
        let clock = ManualClock()
        let limiter = limiter(1, clock)
        try await limiter.acquire()
        var tasks = (0..<10_000).map { _ in Task { try await limiter.acquire() } }
        #expect(await eventually { limiter.waiting == 10_000 && clock.sleepers == 1 })
        var random = SeededRandom(seed: 5)
        tasks.shuffle(using: &random)
        for task in tasks { task.cancel() }
        var cancelled = 0
        for task in tasks {
            if case .failure(is CancellationError) = await task.result { cancelled += 1 }
        }
        #expect(cancelled == 10_000)
        #expect(limiter.waiting == 0)
        #expect(await eventually { clock.sleepers == 0 })
        // The next request waits as if the cancelled ones had never existed.
        let next = Task { try await limiter.acquire() }
        #expect(await eventually { clock.sleepers == 1 })
        #expect(clock.nextDeadline?.offset == .seconds(1))
        clock.advance(by: .seconds(1))
        try await next.value
        #expect(limiter.waiting == 0)
    }

    /// Cancels waiters while the timer admits others: each is either admitted or cancelled, and no turn is lost.
    @Test func `A waiter that is cancelled when its turn comes loses no turn`() async throws {
        let clock = ManualClock()
        let limiter = limiter(1, clock)
        let outcomes = Collected<Bool>()
        let tasks = (0..<100).map { _ in
            Task {
                do {
                    try await limiter.acquire()
                    outcomes.append(true)
                } catch { outcomes.append(false) }
            }
        }
        let canceller = Task.detached { for task in tasks.reversed() where Bool.random() { task.cancel() } }
        #expect(
            await eventually {
                clock.advance(by: .seconds(1))
                return outcomes.values.count == 100
            })
        await canceller.value
        #expect(limiter.waiting == 0)
        #expect(await eventually { clock.sleepers == 0 })
    }

    @Test func `A limit on the system's clock`() async throws {
        let limiter = RateLimiter(RateLimitConfiguration(requests: 100, interval: 0.01, burst: 1))
        let start = ContinuousClock.now
        for _ in 0..<11 { try await limiter.acquire() }
        #expect(ContinuousClock.now - start >= .milliseconds(1))
    }
}

import Testing

@testable import NevodHost

struct RetryBudgetTests {
    /// Every request fails and tries to retry twice, over a minute.
    @Test func `An outage costs a tenth more, not three times as much`() {
        var account = RetryAccount(ratio: 0.1, limit: 100, reserve: 10, interval: .seconds(10))
        var retries = 0
        for request in 0..<10_000 {
            account.deposit()
            for _ in 0..<2 where account.withdraw(now: .milliseconds(request * 6)) { retries += 1 }
        }
        // A tenth of the requests, the reserve, and six refills of it.
        #expect((1_000...1_070).contains(retries))
    }

    @Test func `A calm period saves a limited number of retries`() {
        var account = RetryAccount(ratio: 0.1, limit: 100, reserve: 0, interval: .seconds(10))
        for _ in 0..<100_000 { account.deposit() }
        let granted = (0..<1000).count { _ in account.withdraw(now: .zero) }
        #expect(granted == 100)
    }

    @Test func `Few requests may retry as well, up to a rate`() {
        var account = RetryAccount(ratio: 0, limit: 100, reserve: 10, interval: .seconds(10))
        // A clock set back changes nothing.
        let granted = [0, 3000, 1000, 3900, 1_000_000].map { milliseconds in
            (0..<100).count { _ in account.withdraw(now: .milliseconds(milliseconds)) }
        }
        #expect(granted == [10, 3, 0, 0, 10])
    }

    @Test func `Ten requests pay for one retry, exactly`() {
        var account = RetryAccount(ratio: 0.1, limit: 100, reserve: 0, interval: .seconds(10))
        for round in 0..<50 {
            for _ in 0..<9 { account.deposit() }
            let early = account.withdraw(now: .zero)
            account.deposit()
            let due = account.withdraw(now: .zero)
            #expect(!early && due, "\(round)")
        }
    }

    @Test func `Concurrent tasks withdraw no more than the budget has`() async {
        let budget = RetryBudget(ratio: 0, limit: 0, reserve: 10, per: .seconds(1_000_000))
        let granted = await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { budget.withdraw() ? 1 : 0 } }
            return await group.reduce(0, +)
        }
        #expect(granted == 10)
    }
}

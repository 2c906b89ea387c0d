import NevodHost
import Testing

@testable import NevodHostPostgreSQL

struct PostgreSQLAttemptsTests {
    private let start = ContinuousClock.now

    private func failure(_ state: String?, isLost: Bool = false) -> PostgreSQLError {
        PostgreSQLError(error: StorageError(.other, "PostgreSQL", problem: "no"), state: state, isConnectionLost: isLost)
    }

    @Test func `Lost and transient statements are sent up to four times, others once`() {
        for passing in [failure(nil, isLost: true), failure("40P01")] {
            var attempts = PostgreSQLRetryLimit(from: start)
            var count = 0
            while attempts.next(), count < 100 {
                count += 1
                let mayRetry = attempts.mayRetry(after: passing, at: start + .seconds(3600))
                #expect(mayRetry)
            }
            #expect(count == 4)
        }
        var attempts = PostgreSQLRetryLimit(from: start)
        let mayRetry = attempts.mayRetry(after: failure("42501"), at: start)
        #expect(!mayRetry)
    }

    @Test func `A lock timeout is retried for minutes, and no longer`() {
        var attempts = PostgreSQLRetryLimit(from: start)
        var seconds = 0
        while attempts.next(), seconds < 3600 {
            guard attempts.mayRetry(after: failure("55P03"), at: start + .seconds(seconds)) else { break }
            seconds += 20
        }
        #expect(seconds == 300)
    }
}

import NevodHost
import Testing

@testable import NevodHostPostgreSQL

struct PostgreSQLAttemptsTests {
    private let start = ContinuousClock.now

    private func failure(_ state: String?, isLost: Bool = false) -> PostgreSQLError {
        PostgreSQLError(error: StorageError(.other, "PostgreSQL", problem: "no"), state: state, isLost: isLost)
    }

    @Test func `Lost and transient statements are sent up to four times, others once`() {
        for passing in [failure(nil, isLost: true), failure("40P01")] {
            var attempts = PostgreSQLAttempts(from: start)
            var count = 0
            while attempts.next(), count < 100 {
                count += 1
                let mayRepeat = attempts.mayRepeat(after: passing, at: start + .seconds(3600))
                #expect(mayRepeat)
            }
            #expect(count == 4)
        }
        var attempts = PostgreSQLAttempts(from: start)
        let mayRepeat = attempts.mayRepeat(after: failure("42501"), at: start)
        #expect(!mayRepeat)
    }

    @Test func `A lock timeout is retried for minutes, and no longer`() {
        var attempts = PostgreSQLAttempts(from: start)
        var seconds = 0
        while attempts.next(), seconds < 3600 {
            guard attempts.mayRepeat(after: failure("55P03"), at: start + .seconds(seconds)) else { break }
            seconds += 20
        }
        #expect(seconds == 300)
    }
}

import NevodSupport
import Testing

struct RetryAfterTests {
    private func seconds(_ value: String?, sent: String? = nil, now: Int64? = nil) -> Int64? {
        RetryAfter.seconds(value, sent: sent, now: now, date: { $0.hasPrefix("day ") ? Int64($0.dropFirst(4)) : nil })
    }

    @Test(
        arguments: [
            ("120", 120), ("0", 0), ("0007", 7), ("99999999999999999999", Int64(Int32.max)), ("", nil), ("-1", nil), ("+1", nil),
            ("1.5", nil), ("soon", nil), (nil, nil), ("day 1060", 60), ("day 999", 0), ("day 9000000000", Int64(Int32.max)),
        ] as [(String?, Int64?)])
    func `A wait is a number of seconds, or a date`(value: String?, expected: Int64?) {
        #expect(seconds(value, now: 1000) == expected)
        // The response's own clock counts.
        #expect(seconds(value, sent: "day 1000", now: 0) == expected)
        #expect(seconds(value, sent: "invalid", now: 1000) == expected)
    }

    @Test func `A date needs a clock`() {
        #expect(seconds("day 1060") == nil)
        #expect(seconds("120") == 120)
    }
}

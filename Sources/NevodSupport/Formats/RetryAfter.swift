/// The wait that a server in trouble asks its clients for (`Retry-After`, RFC 9110 §10.2.3).
package enum RetryAfter {
    /// The longest wait that is returned, in seconds: 68 years.
    private static let longest = Int64(Int32.max)

    /// Returns the wait in seconds; nil if the field is missing or invalid.
    ///
    /// A date counts from the response's own `Date`, so that a difference between the clocks doesn't matter, or else from `now`.
    ///
    /// - Parameters:
    ///   - sent: the value of `Date`.
    ///   - now: in seconds since 1970; nil if no clock is at hand.
    ///   - date: reads an HTTP-date (§5.6.7) as seconds since 1970.
    package static func seconds(_ value: String?, sent: String?, now: Int64?, date: (String) -> Int64?) -> Int64? {
        guard let value, !value.isEmpty else { return nil }
        if value.utf8.allSatisfy({ $0.isDigit }) { return min(Int64(digits: value.utf8) ?? longest, longest) }
        guard let end = date(value), let start = sent.flatMap(date) ?? now else { return nil }
        let (wait, overflows) = end.subtractingReportingOverflow(start)
        return overflows ? nil : max(0, min(wait, longest))
    }
}

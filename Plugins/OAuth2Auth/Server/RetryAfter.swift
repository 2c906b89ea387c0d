internal import NevodPluginKit

/// The time that a server in trouble asks its clients to wait (RFC 9110 §10.2.3).
enum RetryAfter {
    private static let longest: Int64 = 1_000_000_000

    /// Returns the wait in seconds; nil if the field is missing or invalid.
    ///
    /// A date counts from the response's own `Date`, so that a difference between the clocks doesn't matter, or else from `now`.
    static func seconds(_ headers: [(name: String, value: String)], at now: Int64?) -> Int64? {
        guard let text = headers.first(where: { $0.name.isHeaderName("retry-after") })?.value, !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
            return min(Int64(text) ?? longest, longest)
        }
        let sent = headers.first { $0.name.isHeaderName("date") }.flatMap { unixSeconds($0.value) }
        guard let date = unixSeconds(text), let start = sent ?? now else { return nil }
        return max(0, min(date - start, longest))
    }

    private static func unixSeconds(_ text: String) -> Int64? {
        TimeFormat.httpDate.unixNanoseconds(text).map { $0 / 1_000_000_000 }
    }
}

extension HTTPResponse {
    /// The wait that `Retry-After` asks for, in seconds or as a date (RFC 9110 §10.2.3); nil if it is missing or invalid.
    ///
    /// A date counts from the response's own `Date`, so that a difference between the clocks doesn't matter, or else from `now`.
    package func retryAfter(now: UnixTime) -> Duration? {
        guard let text = headers["Retry-After"], !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
            return .seconds(Int32(text) ?? .max)
        }
        guard let date = HTTPDate.parse(text) else { return nil }
        return max(.zero, date - (headers["Date"].flatMap(HTTPDate.parse) ?? now))
    }
}

/// A bare item of a structured field (RFC 9651 §3.3).
public enum StructuredValue: Sendable, Equatable {
    /// A number of at most 15 digits.
    case integer(Int64)
    /// A number with three digits behind its point, counted in thousandths: 1.5 is 1500. Of at most 15 digits.
    case decimal(thousandths: Int64)
    /// Printable ASCII.
    case string(String)
    /// A word without quotes: `gzip`, `text/html`.
    case token(String)
    /// Bytes, which are written in base64.
    case bytes([UInt8])
    /// `?1` or `?0`; as the value of a parameter or in a dictionary, true is not written.
    case bool(Bool)
    /// Seconds since 1970 UTC, of at most 15 digits.
    case date(Int64)
    /// Any text, percent-encoded.
    case displayString(String)
}

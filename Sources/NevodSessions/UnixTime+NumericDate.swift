internal import NevodHost

extension UnixTime {
    /// A NumericDate (RFC 7519 §2), in seconds; nil if it is beyond the years 1970 to 2255.
    init?(numericDate seconds: Double) {
        guard (0...9e9).contains(seconds) else { return nil }
        self.init(nanoseconds: Int64(seconds * 1e9))
    }

    /// Seconds since 1970, with their fraction: a NumericDate (RFC 7519 §2).
    var numericDate: Double { Double(nanoseconds) / 1e9 }
}

/// The expiry type of tokens without an expiry.
public struct NoExpiry: TimePoint {
    public var unixTime: UnixTime? { nil }
}

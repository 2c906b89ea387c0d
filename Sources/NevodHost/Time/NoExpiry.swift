/// The expiry of a token that says nothing of one.
public struct NoExpiry: TimePoint {
    public var unixTime: UnixTime? { nil }
}

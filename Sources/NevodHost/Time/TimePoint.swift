/// A type that can represent an expiry: ``UnixTime``, Foundation's `Date`, or an optional of one.
public protocol TimePoint: Sendable {
    /// The time; nil for no expiry.
    var unixTime: UnixTime? { get }
}

extension UnixTime: TimePoint {
    public var unixTime: UnixTime? { self }
}

extension Optional: TimePoint where Wrapped: TimePoint {
    public var unixTime: UnixTime? { flatMap(\.unixTime) }
}

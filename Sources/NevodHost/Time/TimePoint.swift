/// A type that an expiry can be given as: ``UnixTime``, Foundation's `Date`, an optional of one.
public protocol TimePoint: Sendable {
    /// Nil: never.
    var unixTime: UnixTime? { get }
}

extension UnixTime: TimePoint {
    public var unixTime: UnixTime? { self }
}

extension Optional: TimePoint where Wrapped: TimePoint {
    public var unixTime: UnixTime? { flatMap(\.unixTime) }
}

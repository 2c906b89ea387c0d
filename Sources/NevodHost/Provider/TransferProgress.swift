/// The progress of an upload or download.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes transferred so far.
    public let completed: Int64
    /// The total number of bytes; nil if it isn't known.
    public let total: Int64?

    /// Creates a value, for tests and custom transports.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// The completed fraction, from 0 to 1; nil if the total isn't known.
    public var fraction: Double? {
        total.map { $0 > 0 ? Double(completed) / Double($0) : 1 }
    }
}

/// Receives the progress after every piece. Called on any thread, so it should return quickly.
public typealias ProgressHandler = @Sendable (TransferProgress) -> Void

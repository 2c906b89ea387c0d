/// How far a transfer is.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes so far.
    public let completed: Int64
    /// Bytes in all; nil when it isn't known.
    public let total: Int64?

    init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// From 0 to 1; nil when it isn't known.
    public var fraction: Double? {
        total.map { $0 > 0 ? Double(completed) / Double($0) : 1 }
    }
}

/// Called for every piece, on no thread in particular: it should be quick.
public typealias ProgressHandler = @Sendable (TransferProgress) -> Void

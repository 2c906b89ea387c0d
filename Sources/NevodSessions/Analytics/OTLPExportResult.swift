/// The result of an export to an OTLP receiver.
public enum OTLPExportResult: Sendable, Hashable {
    /// The receiver has taken all points.
    case accepted
    /// The receiver has taken the request, and refused some points for good, for the reason that it gives.
    case partiallyAccepted(rejectedDataPoints: Int, reason: String)
    /// Nothing was sent: the receiver asked for a pause that lasts this much longer, or another export is in progress (zero).
    case postponed(Duration)
}

/// The maker of sinks: learns of those that a plugin keeps, and may decide their results.
protocol SinkOwner: AnyObject, Sendable {
    /// Returns nil for the usual result.
    func result(of call: SinkCall, _ index: Int) -> Int32?
    func note(_ call: KeptSinkCall)
}

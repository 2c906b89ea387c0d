/// The result of a plugin's function, and every call that it made, in order.
package struct ContractOutcome: Sendable, Equatable {
    /// The status that it returned, or the verdict; 0 for a function that returns nothing.
    package let result: Int32
    package let sinks: [SinkRecord]
    /// The arguments that it passed and that couldn't be read.
    package let faults: [String]

    package var calls: [SinkCall] { sinks.map(\.call) }

    /// Its actions of a flow's step; a correct one has at most one for which the host returned `NEVOD_OK`.
    package var actions: [SinkCall] { calls.filter(\.isAction) }

    /// The first report, which is the one that counts.
    package var report: (subject: [UInt8], message: [UInt8], detail: [UInt8])? {
        for case .report(let subject, let message, let detail) in calls { return (subject, message, detail) }
        return nil
    }

    /// The last state that it set.
    package var state: [UInt8]? {
        var state: [UInt8]?
        for case .setState(let bytes) in calls { state = bytes }
        return state
    }
}

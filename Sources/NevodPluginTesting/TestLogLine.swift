/// A line that a scheme wrote to the host's log.
public struct TestLogLine: Sendable, Equatable {
    /// `NEVOD_LOG_…`.
    public let level: Int32
    /// The text.
    public let message: String
}

extension ContractOutcome {
    var logLines: [TestLogLine] {
        calls.compactMap { call in
            guard case .log(let level, let message) = call else { return nil }
            return TestLogLine(level: level, message: String(decoding: message, as: UTF8.self))
        }
    }
}

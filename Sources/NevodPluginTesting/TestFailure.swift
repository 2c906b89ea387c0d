internal import NevodPluginABI

/// The reason why a call of a scheme failed, or why a test can't go on: a status with the scheme's report, or a breach of the
/// contract.
///
/// ```swift
/// #expect(throws: TestFailure.self) { try plugin.scheme("hmac", settings: ["secret": ""]) }
/// ```
public struct TestFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The contract's function that failed, such as `authorize`; empty if the failure is the test's own.
    public let function: String
    /// The status that it returned, such as `NEVOD_BAD_TOKEN`; `NEVOD_OK` if it returned none.
    public let status: Int32
    /// The cause that the scheme reported, such as the name of a setting.
    public let subject: String
    /// The message that the scheme reported, or the breach of the contract.
    public let message: String
    /// The sensitive detail that the scheme reported.
    public let detail: String

    init(_ message: String, function: String = "") {
        self.function = function
        status = Int32(NEVOD_OK)
        subject = ""
        self.message = message
        detail = ""
    }

    init(_ outcome: ContractOutcome, function: String) {
        self.function = function
        status = outcome.result
        let report = outcome.report
        subject = report.map { String(decoding: $0.subject, as: UTF8.self) } ?? ""
        message = report.map { String(decoding: $0.message, as: UTF8.self) } ?? ""
        detail = report.map { String(decoding: $0.detail, as: UTF8.self) } ?? ""
    }

    public var description: String {
        guard status != NEVOD_OK else { return function.isEmpty ? message : "\(function): \(message)" }
        let report = [subject.isEmpty ? "" : "\"\(subject)\"", message, detail.isEmpty ? "" : "(\(detail))"]
            .filter { !$0.isEmpty }.joined(separator: " ")
        return "\(function) returned \(Self.name(of: status))\(report.isEmpty ? ", without a report" : ": \(report)")"
    }

    package static func name(of status: Int32) -> String {
        switch Int(status) {
        case NEVOD_OK: "NEVOD_OK"
        case NEVOD_BAD_SETTINGS: "NEVOD_BAD_SETTINGS"
        case NEVOD_BAD_TOKEN: "NEVOD_BAD_TOKEN"
        case NEVOD_DENIED: "NEVOD_DENIED"
        case NEVOD_UNAVAILABLE: "NEVOD_UNAVAILABLE"
        case NEVOD_UNSUPPORTED: "NEVOD_UNSUPPORTED"
        case NEVOD_INTERNAL: "NEVOD_INTERNAL"
        default: "the unknown status \(status)"
        }
    }
}

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

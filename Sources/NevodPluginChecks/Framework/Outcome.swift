/// The result of one check on one plugin, or on one of its schemes, as the report shows it.
package struct Outcome: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case passed = "PASS"
        case skipped = "SKIP"
        case warned = "WARN"
        case failed = "FAIL"
        case crashed = "CRASHED"
        case timedOut = "TIMED OUT"

        /// Whether the plugin breaks the contract.
        package var isFailure: Bool { self == .failed || self == .crashed || self == .timedOut }
    }

    package let check: Check
    /// Nil for a check of the file or the library.
    package let scheme: String?
    package let kind: Kind
    /// The reason of a skip, or a figure of a pass; may be empty.
    package let note: String
    /// Nil for what passed and what was skipped.
    package let finding: Finding?
    /// The duration of the child process, in nanoseconds.
    package let nanoseconds: Int64

    init(_ check: Check, _ scheme: String?, _ kind: Kind, note: String = "", finding: Finding? = nil, nanoseconds: Int64 = 0) {
        self.check = check
        self.scheme = scheme
        self.kind = kind
        self.note = note
        self.finding = finding
        self.nanoseconds = nanoseconds
    }

    init(_ check: Check, _ scheme: String?, _ result: CheckResult, nanoseconds: Int64 = 0) {
        switch result {
        case .pass: self.init(check, scheme, .passed, nanoseconds: nanoseconds)
        case .noted(let note): self.init(check, scheme, .passed, note: note, nanoseconds: nanoseconds)
        case .skip(let reason): self.init(check, scheme, .skipped, note: reason, nanoseconds: nanoseconds)
        case .warn(let finding): self.init(check, scheme, .warned, finding: finding, nanoseconds: nanoseconds)
        case .fail(let finding): self.init(check, scheme, .failed, finding: finding, nanoseconds: nanoseconds)
        }
    }
}

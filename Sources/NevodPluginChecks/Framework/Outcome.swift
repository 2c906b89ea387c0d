/// The result that a check returns. The parent process reports a crash or a timeout.
package enum CheckResult: Sendable, Equatable {
    case pass
    /// Passed, with a figure or a fact that an author wants to see.
    case noted(String)
    /// Not tried, for this reason.
    case skip(String)
    /// Not tried, for this reason: the scheme accepts no generated settings, so the user has to give some.
    case needsSettings(String)
    /// Allowed by the contract, but likely a mistake.
    case warn(Finding)
    case fail(Finding)
}

/// The description of a fault. Each part is a sentence in plain English.
package struct Finding: Sendable, Equatable {
    /// The rule: "authorize sets the same headers for the same view".
    package let expected: String
    /// The plugin's behaviour: "X-Nonce was 1, then 2".
    package let happened: String
    /// The fix: "Take randomness from the view, or declare NEVOD_SCHEME_NONDETERMINISTIC".
    package let fix: String

    package init(expected: String, happened: String, fix: String) {
        self.expected = expected
        self.happened = happened
        self.fix = fix
    }
}

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
    /// The reason for a skip, or a figure for a pass; may be empty.
    package let note: String
    /// Whether the check was skipped because the scheme accepts no generated settings.
    package let needsSettings: Bool
    /// Nil if the check passed or was skipped.
    package let finding: Finding?
    /// The duration of the child process, in nanoseconds.
    package let nanoseconds: Int64

    init(
        _ check: Check, _ scheme: String?, _ kind: Kind, note: String = "", needsSettings: Bool = false, finding: Finding? = nil,
        nanoseconds: Int64 = 0
    ) {
        self.check = check
        self.scheme = scheme
        self.kind = kind
        self.note = note
        self.needsSettings = needsSettings
        self.finding = finding
        self.nanoseconds = nanoseconds
    }

    init(_ check: Check, _ scheme: String?, _ result: CheckResult, nanoseconds: Int64 = 0) {
        switch result {
        case .pass: self.init(check, scheme, .passed, nanoseconds: nanoseconds)
        case .noted(let note): self.init(check, scheme, .passed, note: note, nanoseconds: nanoseconds)
        case .skip(let reason): self.init(check, scheme, .skipped, note: reason, nanoseconds: nanoseconds)
        case .needsSettings(let reason):
            self.init(check, scheme, .skipped, note: reason, needsSettings: true, nanoseconds: nanoseconds)
        case .warn(let finding): self.init(check, scheme, .warned, finding: finding, nanoseconds: nanoseconds)
        case .fail(let finding): self.init(check, scheme, .failed, finding: finding, nanoseconds: nanoseconds)
        }
    }
}

/// Ends a check from within.
enum CheckStop: Error {
    case skip(String)
    /// A skip, because the scheme accepts no generated settings.
    case needsSettings(String)
    case fail(Finding)
}

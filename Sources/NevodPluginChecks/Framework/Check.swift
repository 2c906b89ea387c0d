/// A rule of the contract that is tested on a plugin from outside. It runs in a separate process, so that a crash, a hang or an
/// exit is a result.
package struct Check: Sendable {
    /// The part of a plugin that a check examines.
    package enum Scope: Sendable {
        /// The file. No code of it runs.
        case file
        /// The library and its tables, once.
        case plugin
        /// Each scheme, with settings.
        case scheme
        /// Each scheme, for the seconds of `--fuzz`; not at all without it.
        case fuzz
    }

    /// `category.rule`, such as `authorize.same-twice`. Never renamed, since people use it in CI scripts.
    package let id: String
    /// The rule, as a sentence without its full stop: "The library exports nevod_plugin_v1".
    package let title: String
    package let scope: Scope
    /// The factor by which the check may exceed `--timeout`.
    package let patience: Int
    /// Earlier checks in the report that make this one fail too if they fail. This one isn't judged then.
    let causes: [String]
    let run: @Sendable (CheckContext) throws -> CheckResult

    init(
        _ id: String, _ title: String, scope: Scope, patience: Int = 1, causes: [String] = [],
        run: @escaping @Sendable (CheckContext) throws -> CheckResult
    ) {
        self.id = id
        self.title = title
        self.scope = scope
        self.patience = patience
        self.causes = causes + (scope == .scheme || scope == .fuzz ? Self.basics.prefix { $0 != id } : [])
        self.run = run
    }

    /// If these fail, nothing can be said about a scheme. Each depends only on earlier ones, because two checks that excused each
    /// other would both be left out.
    private static let basics = ["lifecycle.create", "lifecycle.independent"]

    /// The same check with causes.
    func caused(by causes: String...) -> Check {
        Check(id, title, scope: scope, patience: patience, causes: causes, run: run)
    }

    /// The part of the id before the point.
    package var category: String { String(id.prefix { $0 != "." }) }
}

/// All checks, in the order of the report.
package enum CheckCatalogue {
    package static let all: [Check] =
        staticChecks
        + loadChecks
        + descriptionChecks
        + [accepted]
        + basicChecks
        + processChecks
        + lifecycleChecks
        + probingChecks
        + timeChecks
        + threadChecks
        + resourceChecks
        + fuzzChecks

    /// The checks that call a scheme's functions with inputs from a host and a server.
    static let probingChecks =
        tokenChecks + authorizeChecks + authorizeRequestChecks + responseChecks + bodyChecks + flowChecks + flowServerChecks
        + secrecyChecks

    package static func check(_ id: String) -> Check? { all.first { $0.id == id } }
}

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

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

    /// `category.rule`, such as `authorize.same-twice`. Never renamed, because people use it in CI scripts.
    package let id: String
    /// The rule, as a sentence without its full stop: "The library exports nevod_plugin_v1".
    package let title: String
    package let scope: Scope
    /// The factor by which the check may exceed `--timeout`.
    package let patience: Int
    /// Earlier checks in the report. If one of them fails, this one would fail too, so it isn't judged.
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

    /// If these fail, no other check says anything about a scheme. Each depends only on earlier ones, because if two checks
    /// failed and each excused the other, neither would be reported.
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

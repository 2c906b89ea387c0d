/// A rule of the contract that is tried on a plugin from outside. It runs in a process of its own, so that a plugin which crashes,
/// hangs or ends the process is a result.
package struct Check: Sendable {
    /// The part of a plugin that a check looks at.
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

    /// `category.rule`, such as `authorize.same-twice`. Never renamed, since people write it into the scripts of their CI.
    package let id: String
    /// The rule, as a sentence without its full stop: "The library exports nevod_plugin_v1".
    package let title: String
    package let scope: Scope
    /// How many times `--timeout` it may take.
    package let patience: Int
    /// The checks, earlier in the report, whose failure makes this one fail as well: it isn't judged then.
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

    /// Without these, nothing can be said about a scheme. Each needs those before it, and none after it: two that excused each other would
    /// both be left out.
    private static let basics = ["lifecycle.create", "lifecycle.independent"]

    /// The same check with causes.
    func caused(by causes: String...) -> Check {
        Check(id, title, scope: scope, patience: patience, causes: causes, run: run)
    }

    /// The part of the id before the point.
    package var category: String { String(id.prefix { $0 != "." }) }
}

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

    /// The checks that call a scheme's functions with what a host and a server may pass.
    static let probingChecks =
        tokenChecks + authorizeChecks + authorizeRequestChecks + responseChecks + bodyChecks + flowChecks + flowServerChecks
        + secrecyChecks

    package static func check(_ id: String) -> Check? { all.first { $0.id == id } }
}

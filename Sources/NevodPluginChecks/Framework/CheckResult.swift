/// The result that a check itself returns. A crash and a timeout are the parent process's to report.
package enum CheckResult: Sendable, Equatable {
    case pass
    /// Passed; the note has a figure or a fact that an author wants to see.
    case noted(String)
    /// Not tried, for this reason.
    case skip(String)
    /// Allowed by the contract, but likely a mistake.
    case warn(Finding)
    case fail(Finding)
}

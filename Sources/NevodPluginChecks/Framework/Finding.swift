/// The description of a fault: each part a sentence in plain English.
package struct Finding: Sendable, Equatable {
    /// The rule: "authorize sets the same headers for the same view".
    package let expected: String
    /// The plugin's behaviour: "X-Nonce was 1, then 2".
    package let happened: String
    /// The way out: "Take randomness from the view, or declare NEVOD_SCHEME_NONDETERMINISTIC".
    package let fix: String

    package init(expected: String, happened: String, fix: String) {
        self.expected = expected
        self.happened = happened
        self.fix = fix
    }
}

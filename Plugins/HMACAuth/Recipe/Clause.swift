/// A part of a `when` line: a fact of the request, perhaps negated. Whether a setting is given is known before any request, and is no clause.
struct Clause: Sendable, Equatable {
    enum Fact: Sendable, Equatable {
        /// Names, each with a line feed behind it.
        case method(Range<Int>)
        case body, query, form, json
        case header(Range<Int>)
        case path(Range<Int>)
    }

    let fact: Fact
    let isNegated: Bool

    static let names: [String] = [
        "method NAME …", "body", "query", "form", "json", "header NAME", "path PREFIX", "key", "passphrase", "token", "memo",
    ]
}

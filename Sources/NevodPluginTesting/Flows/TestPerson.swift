/// The person in front of a flow under test: answers questions, and comes back from a browser.
public struct TestPerson: Sendable, ExpressibleByDictionaryLiteral {
    /// The answers, by the questions' names.
    public var answers: [String: String]
    /// Goes to an address, and returns the URL at which the browser arrives: the redirect URI with a query. Nil for no browser.
    public var browse: (@Sendable (_ url: String) throws -> String)?

    /// Makes a person with answers, and perhaps with a browser.
    public init(answers: [String: String] = [:], browse: (@Sendable (_ url: String) throws -> String)? = nil) {
        self.answers = answers
        self.browse = browse
    }

    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(answers: Dictionary(elements) { _, last in last })
    }
}

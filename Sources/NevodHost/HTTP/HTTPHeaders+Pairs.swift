extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Creates lines in the order of the fields, for responses of a transport of one's own:
    /// `try HTTPHeaders([("Retry-After", "1"), ("Set-Cookie", "a=1")])`.
    ///
    /// - Parameter fields: names and values. A name may occur several times.
    /// - Throws: ``InvalidRequestError`` for a name that is not a token, or a value with a control character (RFC 9110 §5.5, §5.6.2).
    public init(_ fields: some Sequence<(String, String)>) throws(InvalidRequestError) {
        self.init()
        for (name, value) in fields {
            try Self.check(name, value)
            add(name, value, by: .caller)
        }
    }

    /// Creates lines in the order of the literal: `["Retry-After": "1"]`. A name may occur several times.
    ///
    /// A literal can't throw: a field that `init(_:)` refuses is left out. Use that initializer for fields that come from outside.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init()
        for (name, value) in elements where (try? Self.check(name, value)) != nil { add(name, value, by: .caller) }
    }

    static func check(_ name: String, _ value: String) throws(InvalidRequestError) {
        guard HTTPSyntax.isToken(name) else {
            throw InvalidRequestError(.header(name), "the name is not a token (RFC 9110 §5.6.2)")
        }
        guard HTTPSyntax.isFieldValue(value) else {
            throw InvalidRequestError(.header(name), "the value holds a control character, such as a line break")
        }
    }
}

/// Parameters that a caller attaches to a request for the schemes that authorize it: a `scope` (RFC 6749 §3.3), a `resource`
/// (RFC 8707), the `acr` of a step-up (RFC 9470).
///
/// ```swift
/// let options = RequestOptions(schemeParameters: ["scope": "orders:write"])
/// ```
///
/// Each scheme declares its parameters, like its settings, and receives only those. A name that no scheme of the provider declares,
/// an invalid value, and a missing required parameter fail the request before it is sent. A session keeps a token for each set of
/// them. Values are not secret: they appear in errors, and in the keys of stored tokens.
public struct SchemeParameters: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    package struct Parameter: Sendable, Hashable {
        package let name: String
        package let value: String
    }

    package private(set) var values: [Parameter] = []

    /// Makes an empty list: each scheme gets its defaults.
    public init() {}

    /// Makes a list in the order of the literal, in which a repeatable parameter may occur several times.
    public init(dictionaryLiteral elements: (String, String)...) {
        values = elements.map { Parameter(name: $0.0, value: $0.1) }
    }

    /// Whether there is none.
    public var isEmpty: Bool { values.isEmpty }

    /// Appends a value. A repeatable parameter keeps the order of its values.
    public mutating func add(_ name: String, _ value: String) {
        values.append(Parameter(name: name, value: value))
    }

    /// Returns these parameters without those that `others` name, followed by `others`.
    func replacing(with others: SchemeParameters) -> SchemeParameters {
        var merged = self
        merged.values.removeAll { own in others.values.contains { $0.name == own.name } }
        merged.values += others.values
        return merged
    }
}

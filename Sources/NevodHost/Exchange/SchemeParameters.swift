/// Parameters that a caller attaches to a request for the schemes that authorize it: a `scope` (RFC 6749 §3.3), a `resource`
/// (RFC 8707), the `acr` of a step-up (RFC 9470).
///
/// ```swift
/// let options = RequestOptions(schemeParameters: ["scope": "orders:write"])
/// ```
///
/// Each scheme declares its parameters, like its settings, and receives only those. A name that no scheme of the provider declares,
/// an invalid value, and a missing required parameter fail the request before it is sent. A session keeps a token for each set of
/// parameters. Values are not secret: they appear in errors, and in the keys of stored tokens.
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

    /// Whether the list is empty.
    public var isEmpty: Bool { values.isEmpty }

    /// Appends a value. A repeatable parameter keeps the order of its values.
    public mutating func add(_ name: String, _ value: String) {
        values.append(Parameter(name: name, value: value))
    }

    /// Returns these parameters followed by `others`, which replace the ones with the same names.
    func replacing(with others: SchemeParameters) -> SchemeParameters {
        var merged = self
        merged.values.removeAll { own in others.values.contains { $0.name == own.name } }
        merged.values += others.values
        return merged
    }
}

/// Describes a scheme for the check of a request's ``SchemeParameters``. (A ``ParameterTaking``, in contrast, puts the scheme's
/// credential on requests.)
protocol ParameterDeclaring: Sendable {
    /// The path of its library.
    var plugin: String { get }
    var id: String { get }
    var parameterNames: [String] { get }

    /// Throws if the value of one of the scheme's own parameters is invalid. Ignores other schemes' parameters.
    func checkValues(of given: SchemeParameters) throws(PluginError)
}

/// An interceptor or a token that may belong to a scheme.
protocol ParameterTaking {
    /// Nil if it belongs to no scheme.
    var parameterDeclaring: (any ParameterDeclaring)? { get }
}

extension InterceptorChain {
    /// Checks the parameters of a request before anything is sent. Each name must be known to at least one scheme of the chain.
    func check(_ parameters: SchemeParameters) throws(NetworkError) {
        let valid = declaring.flatMap(\.parameterNames)
        for parameter in parameters.values where !valid.contains(parameter.name) {
            guard let last = declaring.last else {
                throw NetworkError(
                    InvalidRequestError(
                        .parameter(parameter.name),
                        "no scheme authorizes this request; leave it out, or add the scheme's interceptor"))
            }
            throw .plugin(
                PluginError(last.plugin, .unknownParameter(schemes: declaring.map(\.id), name: parameter.name, valid: valid)))
        }
        for scheme in declaring {
            do throws(PluginError) { try scheme.checkValues(of: parameters) } catch { throw .plugin(error) }
        }
    }
}

/// The parameters of an item or of an inner list (RFC 9651 §3.1.2), in order.
public struct StructuredParameters: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// A parameter.
    public struct Parameter: Sendable, Equatable {
        /// In lower case: `a-z`, digits and `_-.*`, beginning with a letter or `*`.
        public var key: String
        /// The parameter's value; true for one without a value.
        public var value: StructuredValue
    }

    /// The parameters in order, with distinct keys.
    public internal(set) var parameters: [Parameter] = []

    /// Creates parameters, of which the last with a key counts.
    public init(dictionaryLiteral elements: (String, StructuredValue)...) {
        for (key, value) in elements { self[key] = value }
    }

    /// A parameter's value; nil removes it. A replaced one keeps its place.
    public subscript(key: String) -> StructuredValue? {
        get { parameters.first { $0.key == key }?.value }
        set {
            let place = parameters.firstIndex { $0.key == key }
            switch (place, newValue) {
            case (let place?, let value?): parameters[place].value = value
            case (let place?, nil): parameters.remove(at: place)
            case (nil, let value?): parameters.append(Parameter(key: key, value: value))
            case (nil, nil): break
            }
        }
    }
}

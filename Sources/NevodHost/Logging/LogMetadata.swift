/// What belongs to a line of a log, by name: `["attempt": "2"]`. The order is kept, and a name may stand more than once, as a
/// header's does.
public struct LogMetadata: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    public struct Pair: Sendable, Hashable {
        public let name: String
        public let value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    public private(set) var pairs: [Pair]

    public init(_ pairs: [Pair] = []) {
        self.pairs = pairs
    }

    public init(dictionaryLiteral elements: (String, String)...) {
        pairs = elements.map { Pair(name: $0, value: $1) }
    }

    public mutating func append(_ name: String, _ value: String) {
        pairs.append(Pair(name: name, value: value))
    }

    /// The first value of that name.
    public subscript(name: String) -> String? {
        pairs.first { $0.name == name }?.value
    }
}

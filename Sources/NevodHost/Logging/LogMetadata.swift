/// The named values of a log line: `["attempt": "2"]`. The order is kept, and names may repeat, like those of headers.
public struct LogMetadata: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A name and its value, both as text.
    public struct Pair: Sendable, Hashable {
        /// An aspect of the request, or a header's name. May contain text that a server sent.
        public let name: String
        /// May contain text that a server sent, including line breaks and control characters.
        public let value: String

        /// Creates a pair.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The pairs in the order in which they were added.
    public private(set) var pairs: [Pair]

    /// Creates metadata from pairs, keeping their order.
    public init(_ pairs: [Pair] = []) {
        self.pairs = pairs
    }

    public init(dictionaryLiteral elements: (String, String)...) {
        pairs = elements.map { Pair(name: $0, value: $1) }
    }

    /// Appends a pair, even if the name exists already.
    public mutating func append(_ name: String, _ value: String) {
        pairs.append(Pair(name: name, value: value))
    }

    /// The first value with this name.
    public subscript(name: String) -> String? {
        pairs.first { $0.name == name }?.value
    }
}

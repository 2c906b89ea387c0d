/// What belongs to a line of a log, by name: `["attempt": "2"]`. The order is kept, and a name may stand more than once, as a
/// header's does.
public struct LogMetadata: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// One value under its name, both as text.
    public struct Pair: Sendable, Hashable {
        /// Says what the value is: an aspect of the request, or a header's name, which may be a server's text.
        public let name: String
        /// May hold what a server sent: line breaks and control characters too.
        public let value: String

        /// A pair for ``pairs``.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// In the order in which they were added.
    public private(set) var pairs: [Pair]

    /// Keeps the order.
    public init(_ pairs: [Pair] = []) {
        self.pairs = pairs
    }

    public init(dictionaryLiteral elements: (String, String)...) {
        pairs = elements.map { Pair(name: $0, value: $1) }
    }

    /// Adds a pair behind the others, also where the name stands already.
    public mutating func append(_ name: String, _ value: String) {
        pairs.append(Pair(name: name, value: value))
    }

    /// The first value of that name.
    public subscript(name: String) -> String? {
        pairs.first { $0.name == name }?.value
    }
}

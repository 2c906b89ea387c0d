/// Header lines in order, with repeated names repeated. Names are found in any letter case (RFC 9110 §5.1).
public struct TestHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
    /// A header line.
    public struct Line: Sendable, Equatable {
        /// In the letter case in which it is sent.
        public let name: String
        /// Bytes that are not UTF-8 are replaced.
        public let value: String

        /// Makes a line.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All lines, in order.
    public private(set) var lines: [Line] = []

    /// Makes headers without lines.
    public init() {}

    public init(dictionaryLiteral elements: (String, String)...) {
        lines = elements.map { Line($0.0, $0.1) }
    }

    init(_ pairs: [ContractPair]) {
        lines = pairs.map { Line(String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value, as: UTF8.self)) }
    }

    /// The value of the first line of a name; nil if there is none.
    public subscript(name: String) -> String? { values(of: name).first }

    /// The values of all lines of a name, in order.
    public func values(of name: String) -> [String] {
        lines.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// Appends a line.
    public mutating func add(_ name: String, _ value: String) { lines.append(Line(name, value)) }

    /// Replaces all lines of a name by one in the place of the first, or appends one.
    mutating func set(_ name: String, _ value: String) {
        let isOne = { (line: Line) in line.name.lowercased() == name.lowercased() }
        guard let first = lines.firstIndex(where: isOne) else { return add(name, value) }
        lines[first] = Line(name, value)
        let before = lines[...first]
        lines = before + lines[(first + 1)...].filter { !isOne($0) }
    }

    var pairs: [ContractPair] { lines.map { ContractPair($0.name, $0.value) } }

    /// One line of text for each.
    public var description: String { lines.map { "\($0.name): \($0.value)" }.joined(separator: "\n") }
}

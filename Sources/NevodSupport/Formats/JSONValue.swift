/// A JSON value (RFC 8259).
///
/// ```swift
/// let json = try response.json()
/// guard let token = json["access_token"]?.string else { … }
/// ```
public enum JSONValue: Sendable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits in 64 bits.
    case integer(Int64)
    /// Any other number. One that isn't finite is written as null.
    case number(Double)
    /// A text, without quotes and escapes.
    case string(String)
    /// A UTF-8 string to be written without another copy of it. Parsing never returns one.
    case secret(Secret)
    /// Elements, in order.
    case array([JSONValue])
    /// Members in order, including those with repeated names, of which the last counts.
    case object([Member])

    /// A name in an object, and its value.
    public struct Member: Sendable, Equatable {
        /// Without quotes and escapes.
        public let name: String
        /// The member's value.
        public let value: JSONValue

        /// Creates a member of an object to be written.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// An object's member; nil for other values, and if there is no such member. Names are compared byte by byte.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// An array's element; nil for other values, and if there is no such element.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// A string's text; nil for other values.
    public var string: String? { if case .string(let string) = self { string } else { nil } }
    /// The value of `true` or `false`; nil for other values, including the string `"true"`.
    public var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }

    /// A whole number, also if written as `3600.0`, as some servers do; nil for other values.
    public var integer: Int64? {
        switch self {
        case .integer(let integer): integer
        case .number(let number): Int64(exactly: number)
        default: nil
        }
    }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements.map { Member($0, $1) }) }
    public init(nilLiteral: ()) { self = .null }
}

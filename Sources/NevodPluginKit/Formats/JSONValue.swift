public import NevodSupport

/// A JSON value (RFC 8259).
///
/// ```swift
/// let answer = try response.json()
/// guard let token = answer["access_token"]?.string else { … }
/// ```
public enum JSONValue: Sendable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits.
    case integer(Int64)
    /// Any other. What isn't finite is written as null.
    case number(Double)
    /// A text, without quotes and escapes.
    case string(String)
    /// A string to write that is copied into no other on its way; UTF-8. Parsing never gives one.
    case secret(Secret)
    /// Elements, in order.
    case array([JSONValue])
    /// In order, repeated names repeated: the last one counts.
    case object([Member])

    /// A name of an object, and what stands under it.
    public struct Member: Sendable, Equatable {
        /// Without quotes and escapes.
        public let name: String
        /// What stands under the name.
        public let value: JSONValue

        /// One member of an object to be written.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// Of an object; nil for anything else, and where there is no such member. Names are compared byte by byte.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// Of an array.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// Of a text; nil for anything else.
    public var string: String? { if case .string(let string) = self { string } else { nil } }
    /// Of `true` or `false`; nil for anything else, the text `"true"` too.
    public var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }

    /// Of a number without fraction; `3600.0` too, as some servers write it.
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

extension JSONValue {
    /// In UTF-8, without white space.
    public var encoded: Secret {
        var bytes = WipedBytes()
        write(to: &bytes)
        return bytes.secret
    }

    private func write(to bytes: inout WipedBytes) {
        switch self {
        case .null: bytes.append("null")
        case .bool(let bool): bytes.append(bool ? "true" : "false")
        case .integer(let integer): bytes.append(String(integer))
        case .number(let number): bytes.append(number.isFinite ? "\(number)" : "null")
        case .string(var string): string.withUTF8 { Self.write(UnsafeRawBufferPointer($0), to: &bytes) }
        case .secret(let secret): secret.withUnsafeBytes { Self.write($0, to: &bytes) }
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONValue.string(member.name).write(to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: UnsafeRawBufferPointer, to bytes: inout WipedBytes) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                bytes.append("\\u00")
                bytes.append(ByteWriter.hexDigit(byte >> 4))
                bytes.append(ByteWriter.hexDigit(byte & 15))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

public import NevodSupport

/// The fields of a form, or the items of a query, in order (WHATWG URL §5, `application/x-www-form-urlencoded`).
///
/// ```swift
/// var form: FormFields = ["grant_type": "password", "username": "ada", "password": .secret(password)]
/// form.append("scope", "read")
/// ```
public struct FormFields: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// Text, or a secret, which is never copied into a string.
    public enum Value: Sendable, Equatable, ExpressibleByStringInterpolation {
        /// Text that isn't secret.
        case text(String)
        /// A password or a token, read only when the form is encoded.
        case secret(Secret)

        public init(stringLiteral value: String) { self = .text(value) }

        /// The text. Reveals a secret.
        public var text: String {
            switch self {
            case .text(let text): text
            case .secret(let secret): String(revealing: secret)
            }
        }
    }

    /// A name and its value. Neither is encoded.
    public struct Field: Sendable, Equatable {
        /// The name, not encoded. Names may repeat.
        public var name: String
        /// The value, not encoded.
        public var value: Value
    }

    /// The fields in the order of sending.
    public var fields: [Field] = []

    /// Creates a form without fields.
    public init() {}

    public init(dictionaryLiteral elements: (String, Value)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// Creates a form from the answers to a flow's questions, sorted by name.
    public init(_ answers: [String: Secret]) {
        fields = answers.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: .secret($0.value)) }
    }

    /// Reads an encoded body, or a query without its `?`. Never fails: malformed escapes are kept as text, and bytes that aren't
    /// UTF-8 become replacement characters.
    public init(parsing encoded: String) {
        fields = encoded.utf8.split(separator: UInt8(ascii: "&")).map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return Field(name: Self.decoded(name), value: .text(Self.decoded(item[name.endIndex...].dropFirst())))
        }
    }

    /// Appends a field, even if there is another of that name.
    public mutating func append(_ name: String, _ value: Value) {
        fields.append(Field(name: name, value: value))
    }

    /// The value of the first field of that name.
    public subscript(name: String) -> String? {
        fields.first { $0.name.utf8.elementsEqual(name.utf8) }?.value.text
    }

    /// The form as a body, or as a query without `?`. A space becomes `+`, and everything but letters, digits and `*-._` is
    /// percent-encoded.
    public var encoded: Secret {
        var bytes = WipedBytes()
        for (index, field) in fields.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            var name = field.name
            name.withUTF8 { Self.encode(UnsafeRawBufferPointer($0), into: &bytes) }
            bytes.append(UInt8(ascii: "="))
            switch field.value {
            case .text(var text): text.withUTF8 { Self.encode(UnsafeRawBufferPointer($0), into: &bytes) }
            case .secret(let secret): secret.withUnsafeBytes { Self.encode($0, into: &bytes) }
            }
        }
        return bytes.secret
    }

    private static func encode(_ text: UnsafeRawBufferPointer, into bytes: inout WipedBytes) {
        for byte in text {
            switch byte {
            case _ where byte.isAlphanumeric || "*-._".utf8.contains(byte): bytes.append(byte)
            case 0x20: bytes.append(UInt8(ascii: "+"))
            default:
                let escape = PercentEncoding.escape(byte)
                for index in escape.indices { bytes.append(escape[index]) }
            }
        }
    }

    private static func decoded(_ text: Substring.UTF8View) -> String {
        String(decoding: PercentEncoding.decoded(text), as: UTF8.self)
    }
}

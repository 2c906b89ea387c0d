public import NevodSupport

/// The fields of a form, or the items of a query, in order (WHATWG URL §5, `application/x-www-form-urlencoded`).
///
/// ```swift
/// var form: FormFields = ["grant_type": "password", "username": "ada", "password": .secret(password)]
/// form.append("scope", "read")
/// ```
public struct FormFields: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// Text, or a secret, which is copied into no string on its way.
    public enum Value: Sendable, Equatable, ExpressibleByStringInterpolation {
        /// What may be seen.
        case text(String)
        /// A password or a token: read only where the form is encoded.
        case secret(Secret)

        public init(stringLiteral value: String) { self = .text(value) }

        /// In clear.
        public var text: String {
            switch self {
            case .text(let text): text
            case .secret(let secret): String(revealing: secret)
            }
        }
    }

    /// A name and its value, neither of them encoded.
    public struct Field: Sendable, Equatable {
        /// Not encoded; names may repeat.
        public var name: String
        /// Not encoded.
        public var value: Value
    }

    /// In the order in which they are sent.
    public var fields: [Field] = []

    /// No fields.
    public init() {}

    public init(dictionaryLiteral elements: (String, Value)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The answers of a flow's questions, by name.
    public init(_ answers: [String: Secret]) {
        fields = answers.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: .secret($0.value)) }
    }

    /// Reads what is encoded: a body, or a query without its `?`. Never fails: what is no escape stands for itself, and bytes
    /// that are no UTF-8 become replacement characters.
    public init(parsing encoded: String) {
        fields = encoded.utf8.split(separator: UInt8(ascii: "&")).map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return Field(name: Self.decoded(name), value: .text(Self.decoded(item[name.endIndex...].dropFirst())))
        }
    }

    /// Adds a field behind the others, also where there is one of that name.
    public mutating func append(_ name: String, _ value: Value) {
        fields.append(Field(name: name, value: value))
    }

    /// The value of the first field of that name.
    public subscript(name: String) -> String? {
        fields.first { $0.name.utf8.elementsEqual(name.utf8) }?.value.text
    }

    /// As a body or a query, without `?`: a space becomes `+`, and all but letters, digits and `*-._` is percent-encoded.
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
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                bytes.append(byte)
            case 0x20: bytes.append(UInt8(ascii: "+"))
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(ByteWriter.hexDigit(byte >> 4, letters: 7))
                bytes.append(ByteWriter.hexDigit(byte & 15, letters: 7))
            }
        }
    }

    private static func decoded(_ text: Substring.UTF8View) -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = hexByte(rest.prefix(2)) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexByte(_ digits: Substring.UTF8View) -> UInt8? {
        guard digits.count == 2 else { return nil }
        return digits.reduce(UInt8?(0)) { value, digit in
            guard let value, let digit = hexValue(digit) else { return nil }
            return value << 4 | digit
        }
    }

    static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}

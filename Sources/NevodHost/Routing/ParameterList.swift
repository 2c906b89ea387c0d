internal import NevodSupport

/// Names and values in the order in which they go over the wire; a name may stand there more than once.
///
/// A literal keeps its order, `["b": "1", "a": "2", "a": "3"]`; a dictionary has none, and is sorted by name, since a
/// signature may cover what is sent.
public struct ParameterList: Sendable, Hashable {
    /// One name and one value, not encoded.
    public struct Parameter: Sendable, Hashable {
        /// Any text, the empty one too.
        public var name: String
        /// Any text, the empty one too.
        public var value: String

        /// Neither is encoded: that is done where the list is written.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// In the order of the wire.
    public var parameters: [Parameter]

    /// In this order.
    public init(_ parameters: [Parameter] = []) {
        self.parameters = parameters
    }

    /// In this order.
    public init(_ pairs: some Sequence<(String, String)>) {
        parameters = pairs.map { Parameter($0, $1) }
    }

    /// Sorted by name.
    public init(_ dictionary: [String: String]) {
        parameters = dictionary.sorted { $0.key < $1.key }.map { Parameter($0.key, $0.value) }
    }

    /// Nothing to send.
    public var isEmpty: Bool { parameters.isEmpty }
}

extension ParameterList: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements)
    }
}

extension ParameterList {
    /// `name=value` and so on, percent-encoded, as a query has it. Empty for an empty list.
    var query: String {
        joined(PercentEncoding.queryItem)
    }

    /// As a form has it: a space as a plus, and all percent-encoded but letters, digits and `*-._` (WHATWG URL §5.2).
    var form: [UInt8] {
        Array(joined(Self.formEncoded).utf8)
    }

    /// A JSON object of strings (RFC 8259 §4). Of several parameters of one name all are written: readers take the last.
    var json: [UInt8] {
        let members = parameters.map { "\(Self.jsonString($0.name)):\(Self.jsonString($0.value))" }
        return Array("{\(members.joined(separator: ","))}".utf8)
    }

    private func joined(_ encode: (String.UTF8View) -> [UInt8]) -> String {
        var bytes: [UInt8] = []
        for parameter in parameters {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            bytes += encode(parameter.name.utf8)
            bytes.append(UInt8(ascii: "="))
            bytes += encode(parameter.value.utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func formEncoded(_ text: String.UTF8View) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in text {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                bytes.append(byte)
            case UInt8(ascii: " "): bytes.append(UInt8(ascii: "+"))
            default: PercentEncoding.append(byte, to: &bytes)
            }
        }
        return bytes
    }

    /// RFC 8259 §7: quotation mark, backslash and control characters are escaped, nothing else has to be.
    private static func jsonString(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\u{00}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

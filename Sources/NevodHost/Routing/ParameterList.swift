internal import NevodSupport

/// Parameters in the order in which they are sent; names may repeat.
///
/// A literal keeps its order, as in `["b": "1", "a": "2", "a": "3"]`. A dictionary has no order and is sorted by name, so that a
/// signature that covers the parameters is reproducible.
public struct ParameterList: Sendable, Hashable {
    /// A name and a value, not encoded.
    public struct Parameter: Sendable, Hashable {
        /// The name; it may be empty.
        public var name: String
        /// The value; it may be empty.
        public var value: String

        /// Creates a parameter from text that is not encoded yet.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The parameters, in the order in which they are sent.
    public var parameters: [Parameter]

    /// Creates a list in this order.
    public init(_ parameters: [Parameter] = []) {
        self.parameters = parameters
    }

    /// Creates a list in this order.
    public init(_ pairs: some Sequence<(String, String)>) {
        parameters = pairs.map { Parameter($0, $1) }
    }

    /// Creates a list sorted by name.
    public init(_ dictionary: [String: String]) {
        parameters = dictionary.sorted { $0.key < $1.key }.map { Parameter($0.key, $0.value) }
    }

    /// Whether the list is empty.
    public var isEmpty: Bool { parameters.isEmpty }
}

extension ParameterList: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements)
    }
}

extension ParameterList {
    /// The list as a query, `name=value&…`, percent-encoded. Empty for an empty list.
    var query: String {
        joined(PercentEncoding.queryItem)
    }

    /// The list as a form: spaces become pluses, and everything except letters, digits and `*-._` is percent-encoded (WHATWG URL
    /// §5.2).
    package var form: [UInt8] {
        Array(joined(Self.formEncoded).utf8)
    }

    /// The list as a JSON object of strings (RFC 8259 §4). Repeated names are all written; most readers use the last.
    var json: [UInt8] {
        JSONValue.object(parameters.map { JSONValue.Member($0.name, .string($0.value)) }).encoded.withUnsafeBytes { Array($0) }
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
            case _ where byte.isAlphanumeric || "*-._".utf8.contains(byte): bytes.append(byte)
            case UInt8(ascii: " "): bytes.append(UInt8(ascii: "+"))
            default: PercentEncoding.append(byte, to: &bytes)
            }
        }
        return bytes
    }
}

/// How a route's parameters are encoded, and in which part of the request.
public enum ParameterEncoding: Sendable, Hashable {
    /// In the query of the URL, percent-encoded (RFC 3986 §2.1).
    case query
    /// In the body, as a JSON object of strings (RFC 8259).
    case json
    /// In the body, as browsers encode forms: `application/x-www-form-urlencoded` (WHATWG URL §5.2).
    case formURLEncoded
    /// Not sent.
    case none

    /// ``formURLEncoded`` in Nevod's spelling.
    public static var formUrlEncoded: ParameterEncoding { .formURLEncoded }

    /// The previous name of ``formURLEncoded``.
    @available(*, deprecated, renamed: "formURLEncoded")
    public static var form: ParameterEncoding { .formURLEncoded }
}

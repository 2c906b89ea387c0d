internal import NevodSupport

/// The fields of a stored token, encoded like a form: percent-encoded names and values, sorted by name.
struct TokenFields {
    private let fields: [String: String]

    init(_ fields: [String: String?]) {
        self.fields = fields.compactMapValues { $0 }
    }

    init(_ encoded: [UInt8]) {
        let items = encoded.split(separator: UInt8(ascii: "&")).map { item in
            item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(decoding: PercentEncoding.decoded($0), as: UTF8.self) }
        }
        fields = Dictionary(items.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { first, _ in first }
    }

    var encoded: [UInt8] {
        Array(
            fields.sorted { $0.key < $1.key }
                .map { PercentEncoding.queryItem($0.key.utf8) + [UInt8(ascii: "=")] + PercentEncoding.queryItem($0.value.utf8) }
                .joined(separator: [UInt8(ascii: "&")]))
    }

    subscript(name: String) -> String? { fields[name] }

    func value(_ name: String) throws(UnreadableTokenError) -> String {
        guard let value = fields[name] else { throw UnreadableTokenError(missing: name) }
        return value
    }
}

/// The stored bytes can't be decoded as a token of the expected type.
public struct UnreadableTokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The field that is missing.
    public let missing: String

    public var description: String {
        "the stored token has no \(missing): it is damaged, or of another type; clear it, or use another key"
    }
}

/// The former name of ``UnreadableTokenError``.
@available(*, deprecated, renamed: "UnreadableTokenError")
public typealias UnreadableToken = UnreadableTokenError

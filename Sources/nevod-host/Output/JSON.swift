import NevodSupport

/// A JSON value to print (RFC 8259). Foundation's encoder would double this program's size and slow its start.
indirect enum JSON {
    case null
    case bool(Bool)
    case number(Int)
    case string(String)
    case array([JSON])
    /// Members in their order.
    case object([(String, JSON)])

    var text: String { text(indent: "") }

    private func text(indent: String) -> String {
        let inner = indent + "  "
        return switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): Self.quoted(value)
        case .array(let values) where values.isEmpty: "[]"
        case .array(let values): "[\n" + values.map { inner + $0.text(indent: inner) }.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let members):
            "{\n"
                + members.map { "\(inner)\(Self.quoted($0.0)): \($0.1.text(indent: inner))" }.joined(separator: ",\n")
                + "\n\(indent)}"
        }
    }

    private static func quoted(_ value: String) -> String {
        var bytes = WipedBytes()
        bytes.append(quoting: value)
        return bytes.text
    }
}

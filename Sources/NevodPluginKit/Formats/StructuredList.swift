/// A structured field that is a list (RFC 9651 §3.1).
public struct StructuredList: Sendable, Equatable, ExpressibleByArrayLiteral {
    /// The members in order.
    public var members: [StructuredMember]

    /// Creates a list.
    public init(_ members: [StructuredMember] = []) {
        self.members = members
    }

    public init(arrayLiteral members: StructuredMember...) {
        self.members = members
    }

    /// Reads a field that is a list (RFC 9651 §4.2). A field without lines, or an empty one, is an empty list.
    ///
    /// - Parameter lines: the values of the field's lines.
    /// - Returns: nil unless the whole field has the form: a field with a fault is to be ignored.
    public init?(parsing lines: [String]) {
        var parser = StructuredParser(lines)
        guard let members = parser.whole({ $0.list() }) else { return nil }
        self.members = members
    }

    /// The field's value (RFC 9651 §4.1), empty for an empty list, which isn't sent; nil as for ``StructuredItem/text``.
    public var text: String? { StructuredWriter.text { $0.write(members) } }
}

/// A member of a structured list or dictionary (RFC 9651 §3.1).
public enum StructuredMember: Sendable, Equatable {
    /// A single item.
    case item(StructuredItem)
    /// Items in parentheses: `("@method" "@path");created=1`.
    case innerList([StructuredItem], StructuredParameters)

    /// The item, if the member is one.
    public var item: StructuredItem? { if case .item(let item) = self { item } else { nil } }

    /// The items of an inner list; nil for a single item.
    public var items: [StructuredItem]? { if case .innerList(let items, _) = self { items } else { nil } }

    /// The parameters of the item or of the inner list.
    public var parameters: StructuredParameters {
        switch self {
        case .item(let item): item.parameters
        case .innerList(_, let parameters): parameters
        }
    }

    /// The member alone, as a signature's base has it (RFC 9421 §2.3); nil as for ``StructuredItem/text``.
    public var text: String? { StructuredWriter.text { $0.write(self) } }
}

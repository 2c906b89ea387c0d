/// An item of a structured field (RFC 9651 §3.3): a value with parameters. As a field, `sig1=…` aside: `"text";a=1`.
///
/// ```swift
/// let item = StructuredItem(parsing: response.headers(named: "Accept-Signature"))
/// ```
public struct StructuredItem: Sendable, Equatable {
    /// The bare item.
    public var value: StructuredValue
    /// Its parameters.
    public var parameters: StructuredParameters

    /// Creates an item.
    public init(_ value: StructuredValue, _ parameters: StructuredParameters = [:]) {
        self.value = value
        self.parameters = parameters
    }

    /// Reads a field that is an item (RFC 9651 §4.2).
    ///
    /// - Parameter lines: the values of the field's lines.
    /// - Returns: nil unless the whole field has the form: a field with a fault is to be ignored.
    public init?(parsing lines: [String]) {
        var parser = StructuredParser(lines)
        guard let item = parser.whole({ $0.item() }) else { return nil }
        self = item
    }

    /// The field's value (RFC 9651 §4.1); nil if a number is too long, or a text has characters that its kind doesn't allow.
    public var text: String? { StructuredWriter.text { $0.write(self) } }
}

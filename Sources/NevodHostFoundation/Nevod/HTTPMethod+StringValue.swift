public import NevodHost

extension HTTPMethod {
    /// The same as ``NevodHost/HTTPMethod/rawValue``.
    public var stringValue: String { rawValue }
}

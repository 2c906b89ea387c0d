public import NevodHost

extension HTTPMethod {
    /// The same as `HTTPMethod.rawValue`.
    public var stringValue: String { rawValue }
}

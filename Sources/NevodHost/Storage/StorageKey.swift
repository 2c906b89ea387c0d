/// The name under which a value is stored.
///
/// ```swift
/// extension StorageKey {
///     static let session: StorageKey = "com.example.session"
/// }
/// ```
public struct StorageKey: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(value: String) {
        rawValue = value
    }

    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// The same as ``rawValue``.
    public var value: String { rawValue }

    /// Where a ``TokenStorage`` keeps its token unless told otherwise.
    public static let token: StorageKey = "nevod.token"
}

extension StorageKey: CustomStringConvertible {
    public var description: String { rawValue }
}

/// The name under which a value is stored. Two are the same if their UTF-8 is: a store of files, or a database, knows no
/// other way to compare, and what one store keeps apart every store must.
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

    /// The same as ``init(rawValue:)``, by the name that Nevod's users know.
    public init(value: String) {
        rawValue = value
    }

    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// The same as ``rawValue``.
    public var value: String { rawValue }

    /// Where a ``TokenStorage`` of a ``Token`` keeps it unless told otherwise.
    public static let token: StorageKey = "nevod.token"
}

extension StorageKey {
    public static func == (left: StorageKey, right: StorageKey) -> Bool {
        left.rawValue.utf8.elementsEqual(right.rawValue.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in rawValue.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
    }
}

extension StorageKey: CustomStringConvertible {
    public var description: String { rawValue }
}

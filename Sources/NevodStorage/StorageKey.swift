/// The key under which a value is stored. Two keys are equal if their UTF-8 is equal, because files and databases compare bytes,
/// and all stores must agree.
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

    /// The same as ``init(rawValue:)``, under Nevod's name.
    public init(value: String) {
        rawValue = value
    }

    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// The same as ``rawValue``.
    public var value: String { rawValue }

    /// The default key of a `TokenStorage`.
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

extension StorageKey {
    /// FNV-1a of the UTF-8, which is the same in every process.
    package var digest: UInt64 {
        rawValue.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

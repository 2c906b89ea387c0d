public import NevodSupport

/// A token as a scheme uses it: immutable, decoded from the stored bytes once, used by many requests concurrently.
public protocol SchemeToken: Sendable {
    /// Decodes the stored bytes.
    ///
    /// - Throws: ``SchemeError/badToken(_:)`` for bytes that it can't read, for instance those of an older version of the plugin.
    init(decoding bytes: Span<UInt8>) throws(SchemeError)
}

extension Secret: SchemeToken {
    public convenience init(decoding bytes: Span<UInt8>) throws(SchemeError) {
        self.init(bytes)
    }
}

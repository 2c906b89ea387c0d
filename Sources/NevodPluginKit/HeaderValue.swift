public import NevodPluginABI
public import NevodSupport

/// A value of an edit: a string or a secret.
public protocol HeaderValue {
    /// Lends the bytes for the call; the host copies those that it keeps.
    func withHeaderBytes(_ body: (nevod_bytes) -> Void)
}

extension String: HeaderValue {
    @inlinable
    public func withHeaderBytes(_ body: (nevod_bytes) -> Void) {
        var copy = self
        copy.withUTF8 { body(nevod_bytes(borrowing: $0)) }
    }
}

extension Secret: HeaderValue {
    public func withHeaderBytes(_ body: (nevod_bytes) -> Void) {
        withUnsafeBytes { body(nevod_bytes($0)) }
    }
}

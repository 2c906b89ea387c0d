internal import COpenSSL

/// Comparisons whose time says nothing about the place of a difference. For a code or a signature from outside.
public enum ConstantTime {
    /// Whether both have the same bytes. Takes a time that depends on the lengths alone.
    public static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in left.isEmpty || CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0 }
        }
    }
}

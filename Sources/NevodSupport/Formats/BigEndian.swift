/// Integers as bytes, the most significant first, as in files and in protocols. Inlinable, so that other modules get code for their
/// own type.
extension FixedWidthInteger {
    /// As many bytes as the type has.
    @inlinable
    package var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    /// Reads any number of bytes. If there are more than the type has, the last ones count.
    @inlinable
    package init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}

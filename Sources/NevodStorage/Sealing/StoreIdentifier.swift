internal import COpenSSL
internal import NevodSupport

/// Identifies a store among all that a source has keys for.
public struct StoreIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// 16 random bytes.
    package let bytes: [UInt8]

    /// The bytes in hexadecimal.
    public var description: String { Hexadecimal.text(bytes) }
}

extension StoreIdentifier {
    package static func random() -> StoreIdentifier {
        var bytes = [UInt8](repeating: 0, count: 16)
        let isRandom = RAND_bytes(&bytes, Int32(bytes.count)) == 1
        precondition(isRandom, "OpenSSL has no random numbers")
        return StoreIdentifier(bytes: bytes)
    }

    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }
}

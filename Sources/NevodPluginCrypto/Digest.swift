internal import NevodPluginKit

/// The result of a hash function or of an HMAC, without memory of its own.
public struct Digest: Sendable {
    @usableFromInline var storage = InlineArray<64, UInt8>(repeating: 0)
    /// The number of bytes.
    public let count: Int

    @inlinable
    init(count: Int) {
        self.count = count
    }

    /// Copies the bytes of a digest that another, such as the host, has computed.
    ///
    /// - Parameter bytes: at most 64; others are left out.
    public init(_ bytes: Span<UInt8>) {
        count = min(bytes.count, 64)
        for index in 0..<count { storage[index] = bytes[index] }
    }

    /// The bytes.
    public var bytes: Span<UInt8> {
        @inlinable @_lifetime(borrow self) get { storage.span.extracting(first: count) }
    }

    /// Two lower-case hexadecimal digits for each byte.
    public var hex: String {
        var text: [UInt8] = []
        text.append(hex: bytes)
        return String(decoding: text, as: UTF8.self)
    }

    /// The digest in base64, padded (RFC 4648 §4).
    public var base64: String {
        var text: [UInt8] = []
        text.append(base64: bytes)
        return String(decoding: text, as: UTF8.self)
    }

    /// Overwrites the digest, for one that was a key.
    public mutating func wipe() {
        withMutableBytes { UnsafeMutableRawBufferPointer(start: $0, count: 64).wipe() }
    }

    @inlinable
    mutating func withMutableBytes<Result>(_ body: (UnsafeMutablePointer<UInt8>?) -> Result) -> Result {
        var storage = storage.mutableSpan
        return storage.withUnsafeMutableBufferPointer { body($0.baseAddress) }
    }
}

extension Digest: Equatable {
    /// Compares in a time that depends on the lengths alone.
    public static func == (left: Digest, right: Digest) -> Bool {
        ConstantTime.areEqual(left.bytes, right.bytes)
    }
}

internal import COpenSSL
public import NevodPluginKit

/// Takes the message of an ``HMACKey`` in pieces. Small pieces are gathered, because each update costs as much as hashing a short
/// message; large ones are hashed directly.
public struct HMACInput: ~Copyable, ByteSink {
    @usableFromInline let context: OpaquePointer
    @usableFromInline let gathered: UnsafeMutableRawBufferPointer
    @usableFromInline var count = 0
    /// The largest number of bytes gathered at once, which are wiped at the end.
    @usableFromInline var most = 0
    @usableFromInline var succeeded = true

    private init(_ context: OpaquePointer, _ gathered: UnsafeMutableRawBufferPointer) {
        self.context = context
        self.gathered = gathered
    }

    static func feed(_ context: OpaquePointer, _ feed: (inout HMACInput) -> Void) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { memory in
            var input = HMACInput(context, memory)
            feed(&input)
            input.flush()
            UnsafeMutableRawBufferPointer(rebasing: memory[..<input.most]).wipe()
            return input.succeeded
        }
    }

    /// Appends bytes unchanged.
    @inlinable
    public mutating func append(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { bytes in
            guard let source = bytes.baseAddress, let place = gathered.baseAddress else { return }
            guard bytes.count <= gathered.count - count else { return appendLarge(bytes) }
            (place + count).copyMemory(from: source, byteCount: bytes.count)
            count += bytes.count
        }
    }

    @inline(never)
    @usableFromInline
    mutating func appendLarge(_ bytes: UnsafeRawBufferPointer) {
        flush()
        guard bytes.count <= gathered.count else { return update(bytes) }
        gathered.copyMemory(from: bytes)
        count = bytes.count
    }

    private mutating func flush() {
        update(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(gathered)[..<count]))
        most = max(most, count)
        count = 0
    }

    private mutating func update(_ bytes: UnsafeRawBufferPointer) {
        succeeded = EVP_MAC_update(context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count) == 1 && succeeded
    }
}

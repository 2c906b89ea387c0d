#if hasFeature(Embedded)
    internal import CEmbeddedRuntime
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Bytes that must not leak. They print as a redaction, compare in constant time, stay out of swap and core dumps where the
/// system allows, and are wiped when the last reference is released.
public final class Secret: Sendable {
    // Written only in the initializers, before the reference is shared; freed in deinit.
    private nonisolated(unsafe) let memory: UnsafeMutableRawBufferPointer
    private let owner: SecretMemory.Owner

    /// Copies bytes. The caller wipes the original.
    public init(copying bytes: UnsafeRawBufferPointer) {
        (memory, owner) = SecretMemory.allocate(bytes.count)
        memory.copyMemory(from: bytes)
    }

    /// Copies a string as UTF-8. The string's own memory is not wiped, so prefer bytes where possible.
    public convenience init(_ string: String) {
        self.init(copying: Array(string.utf8))
    }

    /// Copies an array. Its own memory is not wiped.
    public convenience init(copying bytes: [UInt8]) {
        self.init(bytes.span)
    }

    /// Copies bytes. The caller wipes the original.
    public init(_ bytes: Span<UInt8>) {
        (memory, owner) = SecretMemory.allocate(bytes.count)
        bytes.withUnsafeBytes { memory.copyMemory(from: $0) }
    }

    /// Writes the bytes in place, so that no other copy exists.
    ///
    /// - Parameters:
    ///   - count: the number of bytes.
    ///   - body: writes every byte.
    public convenience init<Failure: Error>(
        count: Int, initializing body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        self.init(allocating: count)
        try body(memory)
    }

    private init(allocating count: Int) {
        (memory, owner) = SecretMemory.allocate(count)
    }

    deinit {
        memory.wipe()
        SecretMemory.deallocate(memory, owner)
    }

    /// Whether the secret has no bytes.
    public var isEmpty: Bool { memory.isEmpty }
    /// The number of bytes. A secret's length is not hidden.
    public var count: Int { memory.count }

    /// Lends the bytes for the call. Don't copy them into memory that isn't wiped.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(memory))
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "[redacted]" }
    public var debugDescription: String { description }
}

#if !hasFeature(Embedded)
    extension Secret: CustomReflectable {
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif

extension Secret: Equatable {
    /// Compares in a time that depends only on the lengths.
    public static func == (left: Secret, right: Secret) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left.memory, right.memory).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Overwrites the memory with zeros in a way that the optimizer can't remove.
    public func wipe() {
        guard let start = baseAddress else { return }
        #if canImport(Darwin)
            memset_s(start, count, 0, count)
        #else
            explicit_bzero(start, count)
        #endif
    }
}

/// A growing buffer for a message that may hold secrets. When it grows, the old memory is wiped.
@usableFromInline
package struct WipedBytes: ~Copyable {
    @usableFromInline var memory: UnsafeMutableRawBufferPointer
    package private(set) var count = 0

    package init(capacity: Int = 256) {
        memory = .allocate(byteCount: capacity, alignment: 1)
    }

    // Embedded Swift must see this where the bytes are used.
    @inlinable
    deinit {
        memory.wipe()
        memory.deallocate()
    }

    package mutating func append(_ byte: UInt8) {
        if count == memory.count { grow(to: count + 1) }
        memory[count] = byte
        count += 1
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if bytes.count > memory.count - count { grow(to: count + bytes.count) }
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Lends the bytes for the call.
    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    /// A copy of the bytes as text, which is not wiped.
    package var text: String { String(decoding: memory[..<count], as: UTF8.self) }

    package var secret: Secret { Secret(copying: UnsafeRawBufferPointer(rebasing: memory[..<count])) }

    private mutating func grow(to least: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(memory.count * 2, least), alignment: 1)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        memory.wipe()
        memory.deallocate()
        memory = larger
    }
}

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Bytes that must not leak: they print as a redaction, compare in constant time, stand in memory that is neither swapped nor
/// dumped where the system allows, and are wiped when the last reference goes.
public final class Secret: Sendable {
    // Written once, in init, before anyone else can see it; freed in deinit.
    private nonisolated(unsafe) let memory: UnsafeMutableRawBufferPointer

    /// The bytes that are copied stay where they are: wiping them is the caller's.
    public init(copying bytes: UnsafeRawBufferPointer) {
        memory = SecretMemory.allocate(bytes.count)
        memory.copyMemory(from: bytes)
    }

    /// The string's own memory is not wiped: prefer bytes wherever there is a choice.
    public convenience init(_ string: String) {
        self.init(copying: Array(string.utf8))
    }

    /// The array's own memory is not wiped.
    public convenience init(copying bytes: [UInt8]) {
        self.init(bytes.span)
    }

    /// The bytes that are copied stay where they are: wiping them is the caller's.
    public init(_ bytes: Span<UInt8>) {
        memory = SecretMemory.allocate(bytes.count)
        bytes.withUnsafeBytes { memory.copyMemory(from: $0) }
    }

    /// Writes the bytes where they stay, so that there is no other copy.
    ///
    /// - Parameters:
    ///   - count: in bytes.
    ///   - body: fills all of them.
    public init<Failure: Error>(
        count: Int, initializing body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        memory = SecretMemory.allocate(count)
        try body(memory)
    }

    deinit {
        memory.wipe()
        SecretMemory.deallocate(memory)
    }

    /// Whether there are no bytes: a secret that was given, and is empty.
    public var isEmpty: Bool { memory.isEmpty }
    /// In bytes. The length of a secret is not hidden.
    public var count: Int { memory.count }

    /// The bytes in clear, for the call. Don't copy them into memory that nobody wipes.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(memory))
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "[redacted]" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret: Equatable {
    /// Takes a time that depends on the lengths alone.
    public static func == (left: Secret, right: Secret) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left.memory, right.memory).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Overwrites memory in a way that the optimiser can't drop.
    public func wipe() {
        guard let start = baseAddress else { return }
        #if canImport(Darwin)
            memset_s(start, count, 0, count)
        #else
            explicit_bzero(start, count)
        #endif
    }
}

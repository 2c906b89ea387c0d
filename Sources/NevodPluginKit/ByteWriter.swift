public import NevodSupport

/// Builds a short message, a string to sign or a header's value, in memory on the stack.
///
/// ```swift
/// withByteWriter(capacity: 64) { message in
///     message.append(request.method)
///     message.append(ascii: "\n")
///     message.append(decimal: request.unixSeconds)
///     edits.setHeader("X-Message", message.bytes)
/// }
/// ```
public struct ByteWriter: ~Copyable, ~Escapable {
    @usableFromInline let memory: UnsafeMutableBufferPointer<UInt8>
    public private(set) var count = 0

    @_lifetime(borrow memory)
    @usableFromInline
    init(_ memory: UnsafeMutableBufferPointer<UInt8>) {
        self.memory = memory
    }

    /// What has been written so far.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self) get {
            let written = UnsafeBufferPointer(rebasing: memory[..<count])
            return _overrideLifetime(Span(_unsafeElements: written), borrowing: self)
        }
    }

    @_lifetime(self: copy self)
    public mutating func append(_ bytes: Span<UInt8>) {
        precondition(bytes.count <= memory.count - count, "a message longer than its capacity")
        bytes.withUnsafeBufferPointer {
            guard let source = $0.baseAddress, let start = memory.baseAddress else { return }
            (start + count).update(from: source, count: $0.count)
        }
        count += bytes.count
    }

    @_lifetime(self: copy self)
    public mutating func append(ascii text: StaticString) {
        append(Span(_unsafeElements: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)))
    }

    /// Decimal digits, with a minus where it is due.
    @_lifetime(self: copy self)
    public mutating func append(decimal value: Int64) {
        var digits: InlineArray<20, UInt8> = .init(repeating: 0)
        var first = digits.count
        var rest = value.magnitude
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        if value < 0 { append(ascii: "-") }
        append(digits.span.extracting(first...))
    }

    /// Two lower-case digits a byte.
    @_lifetime(self: copy self)
    public mutating func append(hex bytes: Span<UInt8>) {
        precondition(bytes.count * 2 <= memory.count - count, "a message longer than its capacity")
        for index in bytes.indices {
            memory[count] = Self.hexDigit(bytes[index] >> 4)
            memory[count + 1] = Self.hexDigit(bytes[index] & 15)
            count += 2
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

/// Runs `body` with a writer for at most `capacity` bytes, and wipes them afterwards: a message may hold a secret.
@inlinable
public func withByteWriter<Result, Failure: Error>(
    capacity: Int, _ body: (inout ByteWriter) throws(Failure) -> Result
) throws(Failure) -> Result {
    try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { memory throws(Failure) in
        defer { UnsafeMutableRawBufferPointer(memory).wipe() }
        var writer = ByteWriter(memory)
        return try body(&writer)
    }
}

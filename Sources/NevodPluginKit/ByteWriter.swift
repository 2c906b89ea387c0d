public import NevodSupport

/// Builds a short message, such as a string to sign or a header's value, in memory on the stack.
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
    @usableFromInline var written = 0

    /// The number of bytes written so far.
    @inlinable
    public var count: Int { written }

    @inlinable
    @_lifetime(borrow memory)
    init(_ memory: UnsafeMutableBufferPointer<UInt8>) {
        self.memory = memory
    }

    /// The bytes written so far.
    public var bytes: Span<UInt8> {
        @inlinable @_lifetime(borrow self) get {
            let written = UnsafeBufferPointer(start: memory.baseAddress, count: written)
            return _overrideLifetime(Span(_unsafeElements: written), borrowing: self)
        }
    }

    /// Appends bytes unchanged.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(_ bytes: Span<UInt8>) {
        let place = reserve(bytes.count)
        bytes.withUnsafeBufferPointer {
            if let source = $0.baseAddress { place.update(from: source, count: $0.count) }
        }
    }

    /// Appends a literal as UTF-8.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(ascii text: StaticString) {
        reserve(text.utf8CodeUnitCount).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    /// Appends a number in decimal digits, with a minus sign if it is negative.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(decimal value: Int64) {
        if value < 0 { append(ascii: "-") }
        // Filled from the last digit backwards; 20 digits hold any number.
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var start = digits.count
        var rest = value.magnitude
        repeat {
            start -= 1
            digits[start] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        append(digits.span.extracting(start...))
    }

    /// Appends two lower-case hexadecimal digits for each byte.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(hex bytes: Span<UInt8>) {
        var place = reserve(bytes.count * 2)
        for index in bytes.indices {
            place[0] = Hexadecimal.digit(bytes[unchecked: index] >> 4)
            place[1] = Hexadecimal.digit(bytes[unchecked: index] & 15)
            place += 2
        }
    }

    /// Appends two upper-case hexadecimal digits for each byte.
    @_lifetime(self: copy self)
    public mutating func append(upperCaseHex bytes: Span<UInt8>) {
        var place = reserve(bytes.count * 2)
        for index in bytes.indices {
            place[0] = Hexadecimal.upperCaseDigit(bytes[unchecked: index] >> 4)
            place[1] = Hexadecimal.upperCaseDigit(bytes[unchecked: index] & 15)
            place += 2
        }
    }

    /// Appends base64 with padding (RFC 4648 §4).
    @_lifetime(self: copy self)
    public mutating func append(base64 bytes: Span<UInt8>) {
        Base64.encode(bytes, .standard, to: reserve(Base64.digitCount(bytes.count)))
        for _ in 0..<(3 - bytes.count % 3) % 3 { append(ascii: "=") }
    }

    /// Appends base64url without padding (RFC 4648 §5).
    @_lifetime(self: copy self)
    public mutating func append(base64URL bytes: Span<UInt8>) {
        Base64.encode(bytes, .url, to: reserve(Base64.digitCount(bytes.count)))
    }

    /// Appends a copy of bytes that were written before.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(copying range: Range<Int>) {
        precondition(range.upperBound <= written, "beyond what has been written")
        guard let start = memory.baseAddress, !range.isEmpty else { return }
        reserve(range.count).update(from: start + range.lowerBound, count: range.count)
    }

    /// The place of the next `count` bytes. A message longer than its capacity is a fault of the scheme and stops the process.
    @inlinable
    @_lifetime(self: copy self)
    mutating func reserve(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        guard let start = memory.baseAddress, count <= memory.count - written else {
            preconditionFailure("a message longer than its capacity")
        }
        defer { written += count }
        return start + written
    }
}

/// Runs `body` with a writer for at most `capacity` bytes, and wipes them afterwards, because a message may hold a secret.
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

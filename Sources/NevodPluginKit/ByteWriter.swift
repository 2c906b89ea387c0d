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
    @usableFromInline var written = 0

    /// Bytes written so far.
    @inlinable
    public var count: Int { written }

    @inlinable
    @_lifetime(borrow memory)
    init(_ memory: UnsafeMutableBufferPointer<UInt8>) {
        self.memory = memory
    }

    /// What has been written so far.
    public var bytes: Span<UInt8> {
        @inlinable @_lifetime(borrow self) get {
            let written = UnsafeBufferPointer(start: memory.baseAddress, count: written)
            return _overrideLifetime(Span(_unsafeElements: written), borrowing: self)
        }
    }

    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(_ bytes: Span<UInt8>) {
        let place = reserve(bytes.count)
        bytes.withUnsafeBufferPointer {
            if let source = $0.baseAddress { place.update(from: source, count: $0.count) }
        }
    }

    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(ascii text: StaticString) {
        reserve(text.utf8CodeUnitCount).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    /// Decimal digits, with a minus where it is due.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(decimal value: Int64) {
        if value < 0 { append(ascii: "-") }
        var digits = 1
        var rest = value.magnitude / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        let place = reserve(digits)
        rest = value.magnitude
        while digits > 0 {
            digits -= 1
            place[digits] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// Two lower-case digits a byte.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(hex bytes: Span<UInt8>) {
        var place = reserve(bytes.count * 2)
        for index in bytes.indices {
            place[0] = Self.hexDigit(bytes[unchecked: index] >> 4)
            place[1] = Self.hexDigit(bytes[unchecked: index] & 15)
            place += 2
        }
    }

    /// Where the next `count` bytes go. A message that outgrows its capacity is a fault of the scheme, and ends here.
    @inlinable
    @_lifetime(self: copy self)
    mutating func reserve(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        guard let start = memory.baseAddress, count <= memory.count - written else {
            preconditionFailure("a message longer than its capacity")
        }
        defer { written += count }
        return start + written
    }

    /// Without a branch, which a signature's bytes would mispredict half the time.
    @inlinable
    static func hexDigit(_ value: UInt8) -> UInt8 {
        value &+ UInt8(ascii: "0") &+ (((value &+ 6) >> 4) &* 39)
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

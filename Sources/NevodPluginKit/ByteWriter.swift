public import NevodSupport

/// Builds a short message, such as a string to sign or a header's value, in memory on the stack. A message that outgrows this
/// memory moves to the heap. Both are wiped.
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
    @usableFromInline var memory: UnsafeMutableBufferPointer<UInt8>
    @usableFromInline var written = 0
    /// Whether the message outgrew the memory that ``withByteWriter(capacity:_:)`` gave it.
    @usableFromInline var hasGrown = false

    /// The number of bytes written so far.
    @inlinable
    public var count: Int { written }

    @inlinable
    @_lifetime(borrow memory)
    init(_ memory: UnsafeMutableBufferPointer<UInt8>) {
        self.memory = memory
    }

    @inlinable
    deinit {
        if hasGrown { Self.free(memory) }
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
            if let source = $0.baseAddress { UnsafeMutableRawPointer(place).copyMemory(from: source, byteCount: $0.count) }
        }
    }

    /// Appends a literal as UTF-8.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(ascii text: StaticString) {
        let count = text.utf8CodeUnitCount
        UnsafeMutableRawPointer(reserve(count)).copyMemory(from: text.utf8Start, byteCount: count)
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

    /// Appends a copy of bytes that were written earlier. The range is clamped to them.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(copying range: Range<Int>) {
        let range = range.clamped(to: 0..<written)
        guard !range.isEmpty else { return }
        let place = reserve(range.count)
        // Read after the reservation, which may have moved the message.
        guard let start = memory.baseAddress else { return }
        UnsafeMutableRawPointer(place).copyMemory(from: start + range.lowerBound, byteCount: range.count)
    }

    /// Forgets what was written, and keeps the memory for the next message. The bytes are wiped with it.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func removeAll() {
        written = 0
    }

    /// Forgets the last `count` bytes, or all of them if there are fewer.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func removeLast(_ count: Int) {
        written = max(written - max(count, 0), 0)
    }

    /// The place of the next `count` bytes.
    @inlinable
    @_lifetime(self: copy self)
    mutating func reserve(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        if count > memory.count &- written { grow(by: count) }
        defer { written &+= count }
        return start + written
    }

    /// Never nil: even empty memory has an address.
    @inlinable
    var start: UnsafeMutablePointer<UInt8> { memory.baseAddress.unsafelyUnwrapped }

    /// Moves the message to larger memory on the heap.
    @usableFromInline @inline(never)
    @_lifetime(self: copy self)
    mutating func grow(by count: Int) {
        let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(memory.count * 2, written + count, 64))
        UnsafeMutableRawBufferPointer(larger).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<written]))
        // The memory on the stack is wiped by its owner.
        if hasGrown { Self.free(memory) }
        memory = larger
        hasGrown = true
    }

    @usableFromInline
    static func free(_ memory: UnsafeMutableBufferPointer<UInt8>) {
        UnsafeMutableRawBufferPointer(memory).wipe()
        memory.deallocate()
    }
}

/// Runs `body` with a writer, and wipes its bytes afterwards, because a message may hold a secret.
///
/// - Parameters:
///   - capacity: the bytes on the stack. A longer message needs an allocation; pass the greatest length to avoid one.
///   - body: writes the message, and uses its ``ByteWriter/bytes``.
@inlinable
public func withByteWriter<Result, Failure: Error>(
    capacity: Int, _ body: (inout ByteWriter) throws(Failure) -> Result
) throws(Failure) -> Result {
    try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(capacity, 1)) { memory throws(Failure) in
        defer { UnsafeMutableRawBufferPointer(memory).wipe() }
        var writer = ByteWriter(memory)
        return try body(&writer)
    }
}

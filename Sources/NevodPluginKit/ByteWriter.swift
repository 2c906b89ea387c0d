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

    /// Bytes as they are.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(_ bytes: Span<UInt8>) {
        let place = reserve(bytes.count)
        bytes.withUnsafeBufferPointer {
            if let source = $0.baseAddress { place.update(from: source, count: $0.count) }
        }
    }

    /// A literal, as its UTF-8.
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
        // From the last digit on, at the end of the longest number there is.
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

    /// Two upper-case digits a byte.
    @_lifetime(self: copy self)
    public mutating func append(upperCaseHex bytes: Span<UInt8>) {
        var place = reserve(bytes.count * 2)
        for index in bytes.indices {
            place[0] = Self.hexDigit(bytes[unchecked: index] >> 4, letters: 7)
            place[1] = Self.hexDigit(bytes[unchecked: index] & 15, letters: 7)
            place += 2
        }
    }

    /// RFC 4648 §4, padded.
    @_lifetime(self: copy self)
    public mutating func append(base64 bytes: Span<UInt8>) {
        append(bytes, in: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        for _ in 0..<(3 - bytes.count % 3) % 3 { append(ascii: "=") }
    }

    /// RFC 4648 §5, unpadded.
    @_lifetime(self: copy self)
    public mutating func append(base64URL bytes: Span<UInt8>) {
        append(bytes, in: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    }

    @_lifetime(self: copy self)
    private mutating func append(_ bytes: Span<UInt8>, in alphabet: StaticString) {
        let digits = (bytes.count * 8 + 5) / 6
        let place = reserve(digits)
        for digit in 0..<digits {
            // Six bits that begin in one byte and may end in the next.
            let (first, shift) = (digit * 6 / 8, digit * 6 % 8)
            let pair = UInt16(bytes[first]) << 8 | (first + 1 < bytes.count ? UInt16(bytes[first + 1]) : 0)
            place[digit] = alphabet.utf8Start[Int(pair >> UInt16(10 - shift)) & 63]
        }
    }

    /// Bytes that stand here already, once more.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func append(copying range: Range<Int>) {
        precondition(range.upperBound <= written, "beyond what has been written")
        guard let start = memory.baseAddress, !range.isEmpty else { return }
        reserve(range.count).update(from: start + range.lowerBound, count: range.count)
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
    ///
    /// - Parameter letters: how far they stand behind where they would follow the digits.
    @inlinable
    static func hexDigit(_ value: UInt8, letters: UInt8 = 39) -> UInt8 {
        value &+ UInt8(ascii: "0") &+ (((value &+ 6) >> 4) &* letters)
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

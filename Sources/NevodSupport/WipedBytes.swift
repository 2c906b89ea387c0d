/// A growing buffer for a message that may hold secrets. Memory that it outgrows is wiped.
@usableFromInline
package struct WipedBytes: ~Copyable {
    @usableFromInline var memory: UnsafeMutableRawBufferPointer
    package private(set) var count = 0

    package init(capacity: Int = 256) {
        memory = .allocate(byteCount: capacity, alignment: 1)
    }

    // Embedded Swift must see it where the bytes are used.
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

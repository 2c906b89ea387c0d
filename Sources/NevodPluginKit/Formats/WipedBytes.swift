internal import NevodSupport

/// Bytes of a message that holds secrets while it is written: what it outgrows is wiped.
struct WipedBytes: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer
    private var count = 0

    init(capacity: Int = 256) {
        memory = .allocate(byteCount: capacity, alignment: 1)
    }

    deinit {
        memory.wipe()
        memory.deallocate()
    }

    mutating func append(_ byte: UInt8) {
        if count == memory.count { grow(to: count + 1) }
        memory[count] = byte
        count += 1
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if bytes.count > memory.count - count { grow(to: count + bytes.count) }
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    var secret: Secret { Secret(copying: UnsafeRawBufferPointer(rebasing: memory[..<count])) }

    private mutating func grow(to least: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(memory.count * 2, least), alignment: 1)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        memory.wipe()
        memory.deallocate()
        memory = larger
    }
}

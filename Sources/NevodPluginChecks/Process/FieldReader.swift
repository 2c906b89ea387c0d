/// Reads what a ``FieldWriter`` wrote. The bytes may come from a process that a plugin has spoiled: no length in them is trusted.
struct FieldReader {
    /// The bytes are no encoding of what was asked for.
    struct Malformed: Error {}

    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
        position = 0
    }

    var isAtEnd: Bool { position == bytes.endIndex }

    private mutating func take(_ count: Int) throws(Malformed) -> ArraySlice<UInt8> {
        guard count <= bytes.endIndex - position else { throw Malformed() }
        defer { position += count }
        return bytes[position..<position + count]
    }

    private mutating func number(_ count: Int) throws(Malformed) -> UInt64 {
        try take(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func uint32() throws(Malformed) -> UInt32 { UInt32(truncatingIfNeeded: try number(4)) }
    mutating func uint64() throws(Malformed) -> UInt64 { try number(8) }

    mutating func data() throws(Malformed) -> [UInt8] { Array(try take(Int(try uint32()))) }

    mutating func text() throws(Malformed) -> String {
        guard let text = String(validating: try take(Int(try uint32())), as: UTF8.self) else { throw Malformed() }
        return text
    }

    mutating func array<Element>(_ body: (inout FieldReader) throws(Malformed) -> Element) throws(Malformed) -> [Element] {
        let count = try uint32()
        // Each element has at least a number: a larger count would only fill the memory.
        guard Int(count) <= (bytes.endIndex - position) / 4 else { throw Malformed() }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try body(&self)) }
        return elements
    }
}

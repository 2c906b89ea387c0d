/// Writes the simple encoding of what parent and child tell each other: numbers of 4 or 8 bytes, little-endian, and texts behind their
/// length in bytes.
struct FieldWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ number: UInt32) { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
    mutating func write(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }

    mutating func write(_ data: some Collection<UInt8>) {
        write(UInt32(clamping: data.count))
        bytes.append(contentsOf: data.prefix(Int(UInt32.max)))
    }

    mutating func write(_ text: String) { write(text.utf8) }

    mutating func write<Element>(_ elements: [Element], _ body: (Element, inout FieldWriter) -> Void) {
        write(UInt32(clamping: elements.count))
        for element in elements { body(element, &self) }
    }
}

/// Undoes `deflate`, which is the zlib format (RFC 9110 §8.4.1.2); some servers send DEFLATE without it (RFC 1951).
final class DeflateDecoder: CodingDecoder {
    let coding = ContentCoding.deflate
    private(set) var isAtEnd = false
    /// The first byte, until the second one tells the formats apart.
    private var first: UInt8?
    private var inflater: Inflater?

    init() throws(ContentCodingError) {}

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> (used: Int, written: Int) {
        guard !isAtEnd else {
            guard input.isEmpty else { throw .trailing(coding) }
            return (0, 0)
        }
        if let inflater {
            let (used, written, isAtEnd) = try inflater.decode(input, into: output)
            self.isAtEnd = isAtEnd
            return (used, written)
        }
        guard let next = input.first else { return (0, 0) }
        guard let first else {
            first = next
            return (1, 0)
        }
        let inflater = try Inflater(Self.isZlibHeader(first, next) ? .zlib : .raw, for: coding)
        self.inflater = inflater
        // Produces no output: a header has two bytes, and the shortest block with content more.
        let header = [first]
        _ = try header.span.withUnsafeBytes { (byte) throws(ContentCodingError) in try inflater.decode(byte, into: output) }
        return try decode(input, into: output)
    }

    /// Whether two bytes begin the zlib format (RFC 1950 §2.2).
    private static func isZlibHeader(_ method: UInt8, _ flags: UInt8) -> Bool {
        method & 0x0F == 8 && method >> 4 <= 7 && (Int(method) << 8 | Int(flags)) % 31 == 0
    }
}

/// Undoes `gzip`: one or more members (RFC 1952 §2.2), and zeros after the last, with which some servers fill a block.
final class GzipDecoder: CodingDecoder {
    let coding = ContentCoding.gzip
    private(set) var isAtEnd = false
    private var isPadding = false
    private let inflater: Inflater

    init() throws(ContentCodingError) {
        inflater = try Inflater(.gzip, for: .gzip)
    }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> (used: Int, written: Int) {
        if isAtEnd, let first = input.first {
            isPadding = isPadding || first == 0
            if isPadding {
                guard input.allSatisfy({ $0 == 0 }) else { throw .trailing(coding) }
                return (input.count, 0)
            }
            inflater.reset()
        }
        guard !isAtEnd || !input.isEmpty else { return (0, 0) }
        let (used, written, isAtEnd) = try inflater.decode(input, into: output)
        self.isAtEnd = isAtEnd
        return (used, written)
    }
}

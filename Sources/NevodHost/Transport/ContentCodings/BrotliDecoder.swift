internal import CBrotli

/// Undoes `br` (RFC 7932). Its window has at most 16 MiB.
final class BrotliDecoder: CodingDecoder {
    let coding = ContentCoding.brotli
    private(set) var isAtEnd = false
    private let state: OpaquePointer

    init() throws(ContentCodingError) {
        guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { throw .noMemory }
        self.state = state
    }

    deinit {
        BrotliDecoderDestroyInstance(state)
    }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> (used: Int, written: Int) {
        guard !isAtEnd else {
            guard input.isEmpty else { throw .trailing(coding) }
            return (0, 0)
        }
        var (left, room) = (input.count, output.count)
        var next = input.assumingMemoryBound(to: UInt8.self).baseAddress
        var place = output.assumingMemoryBound(to: UInt8.self).baseAddress
        let result = BrotliDecoderDecompressStream(state, &left, &next, &room, &place, nil)
        guard result != BROTLI_DECODER_RESULT_ERROR else { throw .invalid(coding) }
        isAtEnd = result == BROTLI_DECODER_RESULT_SUCCESS
        return (input.count - left, output.count - room)
    }
}

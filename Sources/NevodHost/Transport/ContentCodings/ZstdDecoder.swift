internal import CZstd

/// Undoes `zstd`: one or more frames (RFC 8878 §3.1), with a window of at most 8 MiB (RFC 9659).
final class ZstdDecoder: CodingDecoder {
    let coding = ContentCoding.zstd
    private(set) var isAtEnd = false
    private let context: OpaquePointer

    /// The logarithm of the largest window.
    private static let windowLog: Int32 = 23

    init() throws(ContentCodingError) {
        guard let context = ZSTD_createDCtx() else { throw .noMemory }
        self.context = context
        guard ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.windowLog)) == 0 else { throw .noMemory }
    }

    deinit {
        ZSTD_freeDCtx(context)
    }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> (used: Int, written: Int) {
        // Without input, zstd would begin another frame.
        guard !isAtEnd || !input.isEmpty else { return (0, 0) }
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = ZSTD_decompressStream(context, &target, &source)
        guard ZSTD_isError(result) == 0 else { throw .invalid(coding) }
        isAtEnd = result == 0
        return (source.pos, target.pos)
    }
}

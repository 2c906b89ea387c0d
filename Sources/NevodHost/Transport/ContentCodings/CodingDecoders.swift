internal import CBrotli
internal import CZlib
internal import CZstd

/// Undoes one coding, piece by piece. Owns the library's decoder.
protocol CodingDecoder: AnyObject {
    var coding: ContentCoding { get }

    /// Whether the coding has ended. More input may begin another member of it.
    var isAtEnd: Bool { get }

    /// Decodes bytes until the input or the room for output is used up.
    ///
    /// - Parameters:
    ///   - input: may be empty, to fetch what the last call had no room for.
    ///   - output: not empty.
    /// - Returns: how many bytes of `input` were used, and how many were written to `output`.
    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> (used: Int, written: Int)
}

/// Undoes `gzip`: one or more members (RFC 1952 §2.2), and zeros after the last one, which some servers add to fill a block.
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
        // The first byte alone produces no output: a header has two bytes, and the shortest block with content has more.
        let header = [first]
        _ = try header.span.withUnsafeBytes { (byte) throws(ContentCodingError) in try inflater.decode(byte, into: output) }
        return try decode(input, into: output)
    }

    /// Whether two bytes begin the zlib format (RFC 1950 §2.2).
    private static func isZlibHeader(_ method: UInt8, _ flags: UInt8) -> Bool {
        method & 0x0F == 8 && method >> 4 <= 7 && (Int(method) << 8 | Int(flags)) % 31 == 0
    }
}

/// zlib's decoder.
final class Inflater {
    /// A format around DEFLATE; `rawValue` is zlib's `windowBits` for it.
    enum Format: Int32 {
        case zlib = 15
        case raw = -15
        case gzip = 31
    }

    private let coding: ContentCoding
    // On the heap, because zlib keeps its address.
    private let stream: UnsafeMutablePointer<z_stream>

    init(_ format: Format, for coding: ContentCoding) throws(ContentCodingError) {
        self.coding = coding
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard nevod_inflate_init(stream, format.rawValue) == Z_OK else {
            stream.deallocate()
            throw .noMemory
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Begins another member.
    func reset() {
        inflateReset(stream)
    }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> (used: Int, written: Int, isAtEnd: Bool) {
        let (offered, room) = (UInt32(clamping: input.count), UInt32(clamping: output.count))
        // zlib doesn't write to its input.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = offered
        stream.pointee.next_out = output.assumingMemoryBound(to: UInt8.self).baseAddress
        stream.pointee.avail_out = room
        let status = inflate(stream, Z_NO_FLUSH)
        // Z_BUF_ERROR: there was nothing to do.
        guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(status) else {
            throw status == Z_MEM_ERROR ? .noMemory : .invalid(coding)
        }
        return (Int(offered - stream.pointee.avail_in), Int(room - stream.pointee.avail_out), status == Z_STREAM_END)
    }
}

/// Undoes `br` (RFC 7932). Its window is at most 16 MiB.
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

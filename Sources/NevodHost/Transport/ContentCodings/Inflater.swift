internal import CZlib

/// zlib's decoder.
final class Inflater {
    /// A format around DEFLATE; `rawValue` is zlib's `windowBits` for it.
    enum Format: Int32 {
        case zlib = 15
        case raw = -15
        case gzip = 31
    }

    private let coding: ContentCoding
    // On the heap, since zlib keeps its address.
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

/// Undoes one coding, piece by piece. Owns the library's decoder.
protocol CodingDecoder: AnyObject {
    var coding: ContentCoding { get }

    /// Whether the coding has ended. More input may begin another member of it.
    var isAtEnd: Bool { get }

    /// Decodes bytes until there is no input or no room.
    ///
    /// - Parameters:
    ///   - input: may be empty, to fetch what the last call had no room for.
    ///   - output: not empty.
    /// - Returns: the numbers of bytes used of `input` and written to `output`.
    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> (used: Int, written: Int)
}

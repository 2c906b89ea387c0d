/// Undoes the codings of a body as its bytes arrive: a state machine without I/O. A response that grows out of proportion, or
/// ends before a coding does, is an error.
///
/// The caller passes received bytes to ``receive(_:)``, and reads all decoded bytes before it passes more. Memory holds only the
/// codings' windows and one buffer for each coding, whatever a body grows to.
final class ContentDecoder {
    /// The maximum number of nested codings, the same as curl's.
    static let mostCodings = 5
    private static let bufferSize = 16 << 10

    private struct Stage {
        let decoder: any CodingDecoder
        var input: [UInt8] = []
        var offset = 0
        /// Whether the decoder had any input.
        var hasBegun = false
        /// Whether the decoder filled its output, and may have kept bytes back.
        var mayHoldMore = false
        var written = 0
    }

    /// In the order in which they are undone: the coding that was applied last comes first.
    private var stages: [Stage] = []
    private let limit: DecompressionLimit
    private var received = 0

    /// - Parameter names: the values of Content-Encoding, in order; each may be a list (RFC 9110 §8.4).
    /// - Returns: nil if there is no coding to undo.
    init?(_ names: [String], limit: DecompressionLimit) throws(ContentCodingError) {
        self.limit = limit
        for name in names.joined(separator: ",").split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }).reversed()
        where name.lowercased() != "identity" {
            guard stages.count < Self.mostCodings else { throw .tooMany }
            guard let coding = ContentCoding(name) else { throw .unknown(String(name.prefix(64))) }
            stages.append(Stage(decoder: try coding.makeDecoder()))
        }
        if stages.isEmpty { return nil }
    }

    /// Whether received bytes wait to be decoded, or decoded bytes wait to be read.
    var hasInput: Bool { stages.contains { $0.offset < $0.input.count || $0.mayHoldMore } }

    /// Adds bytes of the body.
    func receive(_ bytes: UnsafeBufferPointer<UInt8>) {
        received += bytes.count
        stages[0].input.removeFirst(stages[0].offset)
        stages[0].offset = 0
        stages[0].input.append(contentsOf: bytes)
    }

    /// Writes the next decoded bytes.
    ///
    /// - Parameter output: not empty.
    /// - Returns: the number of bytes; 0 if more must be received first.
    func read(into output: UnsafeMutableRawBufferPointer) throws(ContentCodingError) -> Int {
        try read(into: output, from: stages.count - 1)
    }

    /// - Parameter isDelimited: whether the response says where its body ends, and the body ended there. A delimited body without
    ///   bytes counts as empty: servers send it, although no coding produces zero bytes.
    /// - Throws: ``ContentCodingError/truncated(_:)`` if a coding has not ended once everything has been read.
    func finish(isDelimited: Bool) throws(ContentCodingError) {
        var isDelimited = isDelimited
        for stage in stages {
            guard stage.decoder.isAtEnd || !stage.hasBegun && isDelimited else { throw .truncated(stage.decoder.coding) }
            isDelimited = true
        }
    }

    private func read(into output: UnsafeMutableRawBufferPointer, from index: Int) throws(ContentCodingError) -> Int {
        while true {
            if stages[index].offset == stages[index].input.count, !stages[index].mayHoldMore {
                guard try refill(index) else { return 0 }
            }
            let written = try decode(index, into: output)
            if written > 0 { return written }
        }
    }

    /// Fills a coding's input with the output of the coding around it.
    ///
    /// - Returns: false if there is nothing.
    private func refill(_ index: Int) throws(ContentCodingError) -> Bool {
        guard index > 0 else { return false }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 1)
        defer { buffer.deallocate() }
        let count = try read(into: buffer, from: index - 1)
        stages[index].input = Array(buffer.prefix(count))
        stages[index].offset = 0
        return count > 0
    }

    private func decode(_ index: Int, into output: UnsafeMutableRawBufferPointer) throws(ContentCodingError) -> Int {
        let (decoder, input, offset) = (stages[index].decoder, stages[index].input, stages[index].offset)
        let (used, written) = try input.span.withUnsafeBytes { (input) throws(ContentCodingError) in
            try decoder.decode(UnsafeRawBufferPointer(rebasing: input[offset...]), into: output)
        }
        // A decoder that makes no progress would never make any.
        guard used > 0 || written > 0 || offset == input.count else { throw .invalid(decoder.coding) }
        stages[index].offset += used
        stages[index].hasBegun = stages[index].hasBegun || used > 0
        stages[index].mayHoldMore = written == output.count
        stages[index].written += written
        let most = limit.most(for: received)
        // Checked for each coding: a body of many empty members would keep the inner coding busy and yield nothing.
        guard stages[index].written <= most else { throw .tooLarge(limit: most) }
        return written
    }
}

/// Limits how much larger a response's body may become when it is decompressed, so that a small response can't fill memory or a
/// disk.
///
/// A body of any size passes if it grows in proportion. The first ``allowance`` decompressed bytes are free. Beyond them, the
/// decompressed body may have ``ratio`` times as many bytes as were received. With nested codings, the limit applies to each of
/// them.
public struct DecompressionLimit: Sendable, Hashable {
    /// How many decompressed bytes are allowed for each received byte, beyond the allowance.
    public var ratio: Int
    /// The decompressed bytes that are free, whatever the ratio.
    public var allowance: Int

    /// Creates a limit. By default, 16 MiB are free, and the ratio is 1,100: a single `gzip` or `deflate` reaches 1,032 at most,
    /// so that only nested codings, or a `br` or `zstd` body that repeats one byte, exceed it.
    public init(ratio: Int = 1100, allowance: Int = 16 << 20) {
        self.ratio = ratio
        self.allowance = allowance
    }

    /// Returns the limit of decompressed bytes for a number of received bytes.
    func most(for received: Int) -> Int {
        let (product, overflows) = received.multipliedReportingOverflow(by: max(0, ratio))
        let (sum, sumOverflows) = product.addingReportingOverflow(max(0, allowance))
        return overflows || sumOverflows ? Int.max : sum
    }
}

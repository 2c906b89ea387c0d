/// Limits how much larger a response's body may become when it is decompressed, so that a small response can't fill memory or a disk.
///
/// A body of any size passes as long as it grows in proportion. The first ``allowance`` bytes are free; from then on, the decompressed
/// body may have ``ratio`` times the bytes that were received. The limit holds for each of several codings around one another too.
public struct DecompressionLimit: Sendable, Hashable {
    /// The most decompressed bytes for each received byte, beyond the allowance.
    public var ratio: Int
    /// The decompressed bytes that are free, whatever the ratio.
    public var allowance: Int

    /// Creates a limit. By default, 16 MiB are free, and the ratio is 1,100: one `gzip` or `deflate` reaches 1,032 at most, so that
    /// only several codings around one another, or a `br` or `zstd` body that repeats one byte, exceed it.
    public init(ratio: Int = 1100, allowance: Int = 16 << 20) {
        self.ratio = ratio
        self.allowance = allowance
    }

    /// Returns the most decompressed bytes for a number of received bytes.
    func most(for received: Int) -> Int {
        let (product, overflows) = received.multipliedReportingOverflow(by: max(0, ratio))
        let (sum, sumOverflows) = product.addingReportingOverflow(max(0, allowance))
        return overflows || sumOverflows ? Int.max : sum
    }
}

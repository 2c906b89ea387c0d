internal import CLinux

/// The heap of this process, which the plugin shares.
enum Heap {
    /// The bytes that are allocated.
    static var used: Int { Int(clamping: nevod_heap_in_use()) }

    /// The bytes by which the heap grows with each round, measured after it has settled: with a leak at least 16, else close to 0.
    static func growth(rounds: Int, _ round: () -> Void) -> Int {
        for _ in 0..<max(50, rounds / 3) { round() }
        // The allocator's own caches grow now and then; a leak grows in each part.
        return (0..<3).map { _ in
            let before = used
            for _ in 0..<rounds { round() }
            return (used - before) / rounds
        }.min() ?? 0
    }

    /// More is a leak.
    static let tolerance = 12
}

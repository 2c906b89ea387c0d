internal import CLinux

/// The heap of this process, which the plugin shares.
enum Heap {
    /// The number of allocated bytes.
    static var used: Int { Int(clamping: nevod_heap_in_use()) }

    /// The number of bytes by which the heap grows with each round, after it has settled. At least 16 if there is a leak,
    /// otherwise close to 0.
    static func growth(rounds: Int, _ round: () -> Void) -> Int {
        for _ in 0..<max(50, rounds / 3) { round() }
        // The allocator's caches grow now and then. A leak grows in each part.
        return (0..<3).map { _ in
            let before = used
            for _ in 0..<rounds { round() }
            return (used - before) / rounds
        }.min() ?? 0
    }

    /// A larger growth is a leak.
    static let tolerance = 12
}

/// Limits how often a check repeats something, because a scheme that asks a device may be slow.
enum Rounds {
    /// - Parameters:
    ///   - wanted: the largest number of rounds.
    ///   - nanoseconds: the duration of one round.
    /// - Returns: as many rounds as fit into 2 s, but at least 8.
    static func fitting(_ wanted: Int, each nanoseconds: Int64) -> Int {
        min(wanted, max(8, Int(2_000_000_000 / max(1, nanoseconds))))
    }
}

/// How often a check repeats something: a scheme that asks a device may take long each time.
enum Rounds {
    /// - Parameters:
    ///   - wanted: the most.
    ///   - nanoseconds: what one round takes.
    /// - Returns: as many as fit into 2 s, at least 8.
    static func fitting(_ wanted: Int, each nanoseconds: Int64) -> Int {
        min(wanted, max(8, Int(2_000_000_000 / max(1, nanoseconds))))
    }
}

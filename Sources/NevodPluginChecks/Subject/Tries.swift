internal import NevodSupport

/// Counts the calls of a sink over several steps.
final class Tries: Sendable {
    private let count = Locked<Int>(0)

    /// The number of earlier calls.
    func next() -> Int {
        count.withLock { count in
            defer { count += 1 }
            return count
        }
    }
}

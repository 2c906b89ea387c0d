internal import NevodSupport

/// The random bytes that a scheme gets: 32 for each call, and the same ones in each run of a test.
public final class TestRandom: Sendable {
    private let next: Locked<@Sendable (Int) -> [UInt8]>
    private let count = Locked<Int>(0)

    private init(_ next: @escaping @Sendable (Int) -> [UInt8]) {
        self.next = Locked(next)
    }

    /// The same 32 bytes for each call: these ones, repeated until there are 32.
    ///
    /// - Parameter pattern: the first 32 count; none are taken for zeros.
    public static func repeating(_ pattern: [UInt8]) -> TestRandom {
        let pattern = pattern.isEmpty ? [0] : pattern
        let bytes = (0..<32).map { pattern[$0 % pattern.count] }
        return TestRandom { _ in bytes }
    }

    /// Other bytes for each call: 32 times 0, then 32 times 1, and so on.
    public static var counting: TestRandom {
        TestRandom { index in [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: 32) }
    }

    func bytes() -> [UInt8] {
        let index = count.withLock { count in
            defer { count += 1 }
            return count
        }
        let next = next.withLock { $0 }
        return next(index)
    }
}

internal import NevodSupport

/// The time that a scheme sees. Only ``advance(by:)`` and a flow's `wait` move it.
public final class TestClock: Sendable {
    private let time: Locked<Int64>

    /// - Parameter unixNanoseconds: nanoseconds since 1970-01-01T00:00:00Z.
    public init(unixNanoseconds: Int64) {
        time = Locked(unixNanoseconds)
    }

    /// Returns a clock that shows a fixed time.
    ///
    /// - Parameter unixSeconds: seconds since 1970-01-01T00:00:00Z.
    public static func fixed(_ unixSeconds: Int64) -> TestClock {
        let (time, overflow) = unixSeconds.multipliedReportingOverflow(by: 1_000_000_000)
        return TestClock(unixNanoseconds: overflow ? .max : time)
    }

    /// Nanoseconds since 1970-01-01T00:00:00Z.
    public var unixNanoseconds: Int64 { time.withLock { $0 } }

    /// Moves the clock, for example to see a token expire.
    ///
    /// - Parameter seconds: negative to set it back.
    public func advance(by seconds: Int64) {
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        advance(nanoseconds: overflow ? (seconds < 0 ? .min : .max) : nanoseconds)
    }

    func advance(nanoseconds: Int64) {
        time.withLock { time in
            let (sum, overflow) = time.addingReportingOverflow(nanoseconds)
            time = overflow ? (nanoseconds < 0 ? .min : .max) : sum
        }
    }
}

/// The random bytes that a scheme gets: 32 for each call, the same in every run of a test.
public final class TestRandom: Sendable {
    private let next: Locked<@Sendable (Int) -> [UInt8]>
    private let count = Locked<Int>(0)

    private init(_ next: @escaping @Sendable (Int) -> [UInt8]) {
        self.next = Locked(next)
    }

    /// Gives every call the same 32 bytes: the pattern, repeated until there are 32.
    ///
    /// - Parameter pattern: only the first 32 bytes count. An empty pattern gives zeros.
    public static func repeating(_ pattern: [UInt8]) -> TestRandom {
        let pattern = pattern.isEmpty ? [0] : pattern
        let bytes = (0..<32).map { pattern[$0 % pattern.count] }
        return TestRandom { _ in bytes }
    }

    /// Gives each call different bytes: 32 times 0, then 32 times 1, and so on.
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

import Glibc

/// How the time of an operation grows with the size of its input.
package enum Growth {
    /// Returns how many times longer an input of eight times the size takes, divided by eight: 1 for a linear operation, 8 for a
    /// quadratic one.
    ///
    /// Measures this thread's processor time, which doesn't depend on other processes. Uses the shortest of several measurements,
    /// because disturbances only make a measurement longer.
    ///
    /// - Parameters:
    ///   - size: the size of the smaller input.
    ///   - make: makes an input of a size; not measured.
    ///   - run: the operation.
    package static func factor<Input>(_ size: Int, _ make: (Int) throws -> Input, _ run: (Input) throws -> Void) throws -> Double
    {
        let (small, large) = (try make(size), try make(8 * size))
        try run(small)
        var least = (small: Double.infinity, large: Double.infinity)
        for round in 0..<8 {
            least.small = min(least.small, try time { for _ in 0..<4 { try run(small) } } / 4)
            least.large = min(least.large, try time { try run(large) })
            // An undisturbed linear operation is recognized in the first rounds.
            if round >= 1, least.large < 8 * linear * least.small { break }
        }
        return least.large / least.small / 8
    }

    /// The limit for a linear operation: at the sizes of tests, quadratic operations exceed it, and caches and allocations don't
    /// reach it.
    package static let linear = 2.5

    private static func time(_ body: () throws -> Void) rethrows -> Double {
        let start = now()
        try body()
        return max(1e-6, now() - start)
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

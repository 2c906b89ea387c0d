#if canImport(Glibc)
    internal import CLinux
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The wall clock given to plugins. They have no clock of their own, so a test or a replay can set it.
public struct HostClock: Sendable {
    let unixNanoseconds: @Sendable () -> Int64

    /// - Parameter unixNanoseconds: returns the nanoseconds since 1970-01-01T00:00:00Z.
    public init(unixNanoseconds: @escaping @Sendable () -> Int64) {
        self.unixNanoseconds = unixNanoseconds
    }

    /// The system clock (CLOCK_REALTIME). It jumps when it is set.
    public static let system = HostClock {
        #if canImport(Glibc)
            nevod_wall_nanoseconds()
        #else
            Int64(clock_gettime_nsec_np(CLOCK_REALTIME))
        #endif
    }
}

#if canImport(Glibc)
    internal import CLinux
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The wall clock as plugins see it: they have none of their own, so a test or a replay can set it.
public struct HostClock: Sendable {
    let unixNanoseconds: @Sendable () -> Int64

    /// - Parameter unixNanoseconds: since 1970-01-01T00:00:00Z.
    public init(unixNanoseconds: @escaping @Sendable () -> Int64) {
        self.unixNanoseconds = unixNanoseconds
    }

    /// The machine's own (CLOCK_REALTIME). It may jump when somebody sets it.
    public static let system = HostClock {
        #if canImport(Glibc)
            nevod_wall_nanoseconds()
        #else
            Int64(clock_gettime_nsec_np(CLOCK_REALTIME))
        #endif
    }
}

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

extension HostClock {
    /// The current time. The clock's resolution may be coarser than a nanosecond.
    public var now: UnixTime { UnixTime(nanoseconds: unixNanoseconds()) }
}

/// The time since the machine was started, including the time that it was suspended. Setting the wall clock doesn't change it.
enum Uptime {
    static var nanoseconds: Int64 {
        #if canImport(Glibc)
            nevod_uptime_nanoseconds()
        #else
            Int64(clock_gettime_nsec_np(CLOCK_MONOTONIC))
        #endif
    }
}

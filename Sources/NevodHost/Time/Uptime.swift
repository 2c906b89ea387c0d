#if canImport(Glibc)
    internal import CLinux
#elseif canImport(Darwin)
    internal import Darwin
#endif

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

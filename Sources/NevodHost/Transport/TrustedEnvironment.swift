#if canImport(Glibc)
    internal import CLinux
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Returns an environment variable of the process; nil if it is not set.
package func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
}

/// Returns an environment variable that decides which code is loaded or run; nil if it is not set, or if the process has more
/// rights than the user who set it, as in a set-user-ID program (secure_getenv(3)).
package func trustedEnvironment(_ name: String) -> String? {
    #if canImport(Glibc)
        nevod_secure_getenv(name).map { String(cString: $0) }
    #else
        issetugid() == 0 ? environment(name) : nil
    #endif
}

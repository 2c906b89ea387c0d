#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Returns an environment variable of the process; nil if it is not set.
package func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
}

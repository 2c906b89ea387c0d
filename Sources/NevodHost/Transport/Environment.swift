#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A variable of the process's environment; nil when it is not set.
package func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
}

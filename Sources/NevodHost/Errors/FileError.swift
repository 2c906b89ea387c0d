#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A file that can't be written.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file that was to be written.
    public let path: String
    /// `errno`.
    public let code: Int32

    init(_ path: String, _ code: Int32) {
        self.path = path
        self.code = code
    }

    public var description: String { "\(path): \(String(cString: strerror(code)))" }
}

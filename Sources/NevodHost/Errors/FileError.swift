#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A file that can't be written.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path of the file.
    public let path: String
    /// The `errno` of the failure.
    public let code: Int32

    init(_ path: String, _ code: Int32) {
        self.path = path
        self.code = code
    }

    public var description: String { "\(path): \(String(cString: strerror(code)))" }
}

/// A line of a cookie file is malformed. The error names the line but doesn't quote it: it may contain a cookie's value.
public struct CookieFileError: Error, Sendable, Hashable {
    /// Counted from 1.
    public let line: Int
}

extension CookieFileError: CustomStringConvertible {
    public var description: String {
        "line \(line) of the cookie file is malformed: it must have seven fields in UTF-8, separated by tabs, and a cookie named "
            + "__Host-… or __Secure-… must have the properties that its name promises"
    }
}

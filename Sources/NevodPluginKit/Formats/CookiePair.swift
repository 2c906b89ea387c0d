internal import NevodSupport

/// A cookie in a request: a name and a value (RFC 6265 §4.2). For those of a response there is `SetCookieLine`.
public struct CookiePair: Sendable, Equatable {
    /// The text before the first `=`, without surrounding white space.
    public let name: String
    /// The text after it, with its quotes.
    public let value: String

    /// Creates a cookie.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Reads a Cookie line, in order, repeated names included. Parts without `=` or without a name are left out.
    public static func parse(_ line: String) -> [CookiePair] {
        line.utf8.split(separator: UInt8(ascii: ";")).compactMap { part in
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            guard name.endIndex < part.endIndex else { return nil }
            let cookie = CookiePair(name.withoutSpaceAround, part[name.endIndex...].dropFirst().withoutSpaceAround)
            return cookie.name.isEmpty ? nil : cookie
        }
    }
}

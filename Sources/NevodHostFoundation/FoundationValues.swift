public import Foundation
public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Lets a token declare its expiry as `let expiresAt: Date`.
extension Date: TimePoint {
    public var unixTime: UnixTime? { UnixTime(self) }
}

extension UnixTime {
    /// Converts a date. Dates outside the range of `UnixTime`, which ends in the year 2262, are clamped to it.
    public init(_ date: Date) {
        self = UnixTime(seconds: 0) + .seconds(min(max(date.timeIntervalSince1970, -9.2e9), 9.2e9))
    }
}

extension Date {
    /// Converts a time, with a precision of about a microsecond: a `Date` stores seconds in floating point.
    public init(_ time: UnixTime) {
        self.init(timeIntervalSince1970: Double(time.nanoseconds) / 1e9)
    }
}

extension URL: URLRepresentation {
    public var urlString: String { absoluteString }
}

extension Cookie {
    /// Converts Foundation's cookie. A domain without a leading dot means host-only. SameSite is dropped, since Foundation
    /// doesn't have it on all platforms.
    ///
    /// Returns nil for a cookie that no server can set, such as one with a line break in its value.
    public init?(_ cookie: HTTPCookie) {
        let isHostOnly = !cookie.domain.hasPrefix(".")
        self.init(
            name: cookie.name, value: cookie.value, domain: isHostOnly ? cookie.domain : String(cookie.domain.dropFirst()),
            isHostOnly: isHostOnly, path: cookie.path, isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly,
            expires: cookie.expiresDate.flatMap { Int64(exactly: $0.timeIntervalSince1970.rounded(.down)) }
                .map(UnixTime.init(seconds:)))
    }
}

extension HTTPCookie {
    /// Converts one of NevodHost's cookies, without its creation time. Returns nil if Foundation rejects it.
    public convenience init?(_ cookie: Cookie) {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: cookie.name, .value: cookie.value, .domain: (cookie.isHostOnly ? "" : ".") + cookie.domain,
            .path: cookie.path,
        ]
        properties[.expires] = cookie.expires.map { Date(timeIntervalSince1970: Double($0.seconds)) }
        if cookie.isSecure { properties[.secure] = "TRUE" }
        if cookie.isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        self.init(properties: properties)
    }
}

extension CookieToken {
    /// Takes Foundation's cookies, from its cookie storage or a response:
    ///
    /// ```swift
    /// CookieToken(sessionCookies: HTTPCookieStorage.shared.cookies(for: url) ?? [])
    /// ```
    ///
    /// Drops cookies that no server can set, such as one with a line break in its value: they can't be sent.
    @_disfavoredOverload  // So that an empty array literal is an array of NevodHost's `Cookie`.
    public init(sessionCookies: [HTTPCookie]) {
        self.init(sessionCookies: sessionCookies.compactMap { Cookie($0) } as [Cookie])
    }
}

public import NevodHost

#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

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
    /// Converts a host's cookie, without its time of creation. Returns nil if Foundation refuses it.
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
    @_disfavoredOverload  // An empty array literal is then an array of the host's own `Cookie`.
    public init(sessionCookies: [HTTPCookie]) {
        self.init(sessionCookies: sessionCookies.compactMap { Cookie($0) } as [Cookie])
    }
}

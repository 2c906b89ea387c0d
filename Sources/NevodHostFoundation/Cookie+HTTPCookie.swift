public import NevodHost

#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension Cookie {
    /// Foundation's cookie as the host keeps it: a domain without a leading dot is host-only. Without SameSite, which Foundation
    /// doesn't have everywhere.
    ///
    /// Nil for what no server can set, such as a line break in the value.
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
    /// The same the other way round, without the time of creation. Nil for what Foundation refuses.
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
    /// What Foundation's cookie storage holds, or read from an answer:
    ///
    /// ```swift
    /// CookieToken(sessionCookies: HTTPCookieStorage.shared.cookies(for: url) ?? [])
    /// ```
    ///
    /// Without cookies that no server can set, such as one with a line break in its value: they can't be sent.
    @_disfavoredOverload  // So that an empty array literal stands for no cookies of the host's own kind.
    public init(sessionCookies: [HTTPCookie]) {
        self.init(sessionCookies: sessionCookies.compactMap { Cookie($0) } as [Cookie])
    }
}

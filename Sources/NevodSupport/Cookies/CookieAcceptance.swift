// Whether a cookie that a server sets is accepted.

extension SetCookieLine {
    /// The domain that a server sets the cookie for, and whether it is for this domain alone; nil if the server may not set it.
    ///
    /// - Parameters:
    ///   - host: the server's, in lower case, without a port.
    ///   - overTLS: whether the line arrived over TLS.
    ///   - canonical: the canonical form of a domain (RFC 6265 §5.1.2); nil if it isn't valid.
    ///   - isPublicSuffix: whether a domain, in its canonical form, is a public suffix.
    package func scope(
        setBy host: String, overTLS: Bool, canonical: (String) -> String?, isPublicSuffix: (String) -> Bool
    ) -> (domain: String, isHostOnly: Bool)? {
        guard overTLS || !isSecure else { return nil }
        var (domain, isHostOnly) = (host, true)
        if let attribute = self.domain {
            guard let wide = canonical(attribute), CookieScope.host(host, matches: wide) else { return nil }
            let isPublic = isPublicSuffix(wide)
            guard wide == host || !isPublic else { return nil }
            (domain, isHostOnly) = (wide, isPublic || CookieScope.isAddress(host))
        }
        return keepsItsPrefix(isHostOnly: isHostOnly) ? (domain, isHostOnly) : nil
    }

    /// Whether the cookie has the properties that a `__Secure-` or `__Host-` prefix of its name promises (draft 6265bis §4.1.3),
    /// in any letter case.
    public func keepsItsPrefix(isHostOnly: Bool) -> Bool {
        // `isHostOnly` isn't enough: a cookie whose Domain is an address or a public suffix is for a single host too.
        CookieName.keepsItsPrefix(name, isSecure: isSecure, isHostOnly: isHostOnly && domain == nil, path: path)
    }
}

/// The prefixes of cookie names that promise properties of the cookie (draft 6265bis §4.1.3).
package enum CookieName {
    /// Whether a cookie has the properties that a `__Secure-` or `__Host-` prefix of its name promises, in any letter case.
    ///
    /// - Parameters:
    ///   - isHostOnly: whether the cookie was set without a Domain.
    ///   - path: the path that the server set; nil if it is the default.
    package static func keepsItsPrefix(_ name: String, isSecure: Bool, isHostOnly: Bool, path: String?) -> Bool {
        if has("__host-", name) { return isSecure && isHostOnly && path.map { $0 == "/" } == true }
        return isSecure || !has("__secure-", name)
    }

    private static func has(_ prefix: StaticString, _ name: String) -> Bool {
        let prefix = UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
        return name.utf8.lazy.map { $0.lowercased }.starts(with: prefix)
    }
}

extension Array where Element: StoredCookie {
    /// Applies a cookie that a server set. A new value takes the old one's place.
    ///
    /// A cookie that was set without TLS may have been injected by an attacker, so it can't shadow one that was set over TLS.
    ///
    /// - Parameter overTLS: whether the cookie arrived over TLS.
    package mutating func set(_ cookie: Element, overTLS: Bool, at unixSeconds: Int64) -> CookieChange<Element> {
        guard overTLS || !contains(where: { cookie.shadows($0) }) else { return .refused }
        let old = firstIndex { cookie.replaces($0) }
        if cookie.isExpired(at: unixSeconds) { return .deleted(old.map { remove(at: $0) }) }
        guard let old else {
            append(cookie)
            return .added
        }
        self[old] = cookie.replacing(self[old])
        return .replaced
    }
}

extension StoredCookie {
    /// Whether this cookie, set without TLS, would hide another that was set over TLS.
    package func shadows(_ other: Self) -> Bool {
        other.isSecure && !isSecure && name == other.name && CookieScope.path(path, matches: other.path)
            && (CookieScope.host(domain, matches: other.domain) || CookieScope.host(other.domain, matches: domain))
    }
}

/// What became of a cookie that a server set.
package enum CookieChange<Cookie> {
    /// The store didn't change.
    case refused
    case added
    case replaced
    /// Servers delete a cookie by setting one that has expired. Nil if the store had no such cookie.
    case deleted(Cookie?)

    /// Whether the store has the cookie.
    package var isStored: Bool {
        switch self {
        case .added, .replaced: true
        case .refused, .deleted: false
        }
    }
}

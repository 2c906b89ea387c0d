/// The prefixes of a cookie's name that promise properties of the cookie (draft 6265bis §4.1.3).
package enum CookieName {
    /// Whether a cookie has the properties that a `__Secure-` or `__Host-` prefix of its name promises, in any letter case.
    ///
    /// - Parameters:
    ///   - isHostOnly: whether the cookie was set without a Domain.
    ///   - path: the path that the server set; nil for the default.
    package static func keepsItsPrefix(_ name: String, isSecure: Bool, isHostOnly: Bool, path: String?) -> Bool {
        if has("__host-", name) { return isSecure && isHostOnly && path == "/" }
        return isSecure || !has("__secure-", name)
    }

    private static func has(_ prefix: StaticString, _ name: String) -> Bool {
        let prefix = UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
        return name.utf8.lazy.map { $0.asciiLowercased }.starts(with: prefix)
    }
}

extension CachePolicy {
    /// The statuses whose caching rules this cache implements: the heuristically cacheable ones, and redirects.
    private static let understood = StoredResponse.heuristicallyCacheable.union([302, 303, 307])

    /// Whether a response may be stored (RFC 9111 §3), and could be used later.
    ///
    /// - Parameter hasCookies: whether it had Set-Cookie lines, which are never stored. RFC 9111 §7.3 allows storing the rest;
    ///   but servers often forget `private` on personal pages, so this cache requires the server's `public`.
    func mayStore(_ response: StoredResponse, hasCookies: Bool) -> Bool {
        let control = response.control
        // §5.2.1.5
        guard method == .get, !noStore else { return false }
        switch response.status {
        // Partial responses (§3.3), and responses that need a stored one.
        case ..<200, 206, 304: return false
        // Challenges concern the credential, not the resource, and are often for one use only.
        case 401, 407: return false
        default: break
        }
        // must-understand overrides no-store in caches that implement the status (§5.2.2.3, §5.2.2.5).
        if control.contains("must-understand") {
            guard Self.understood.contains(response.status) else { return false }
        } else if control.contains("no-store") {
            return false
        }
        if hasCookies, !control.contains("public") { return false }
        // The server's permission, in any of these forms. `private` permits a private cache, such as this one.
        guard
            control.contains("public") || control.contains("private") || control.contains("max-age")
                || response.headers.contains("Expires") || StoredResponse.heuristicallyCacheable.contains(response.status)
        else { return false }
        if response.hasValidator { return true }
        return !control.contains("no-cache")
            && (response.lifetime(timeToLive) > response.initialAge || control.contains("stale-if-error"))
    }
}

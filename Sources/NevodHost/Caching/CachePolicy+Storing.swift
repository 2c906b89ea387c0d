extension CachePolicy {
    /// Statuses whose rules this cache follows: those that say so themselves, and redirects.
    private static let understood = StoredResponse.heuristicallyCacheable.union([302, 303, 307])

    /// Whether an answer may be stored (RFC 9111 §3), and would be of any use.
    ///
    /// - Parameter hasCookies: whether it came with Set-Cookie, which is never stored itself. RFC 9111 §7.3 lets a cache store
    ///   the rest; but a server that greets a user and forgets `private` is a classic, so here it takes the server's `public`.
    func mayStore(_ response: StoredResponse, hasCookies: Bool) -> Bool {
        let control = response.control
        // §5.2.1.5
        guard method == .get, !noStore else { return false }
        switch response.status {
        // Parts (§3.3) and answers that need a stored one.
        case ..<200, 206, 304: return false
        // Challenges: about the credential, not the resource, and often good for one use.
        case 401, 407: return false
        default: break
        }
        // must-understand takes the place of no-store for those who do (§5.2.2.3, §5.2.2.5).
        if control.contains("must-understand") {
            guard Self.understood.contains(response.status) else { return false }
        } else if control.contains("no-store") {
            return false
        }
        if hasCookies, !control.contains("public") { return false }
        // The server's leave, in any of these forms; `private` is for a cache like this one.
        guard
            control.contains("public") || control.contains("private") || control.contains("max-age")
                || response.headers.contains("Expires") || StoredResponse.heuristicallyCacheable.contains(response.status)
        else { return false }
        if response.hasValidator { return true }
        return !control.contains("no-cache") && (response.lifetime > response.initialAge || control.contains("stale-if-error"))
    }
}

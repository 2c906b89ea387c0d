internal import NevodSupport

// What a request loses on its way to another origin: everything that a token or scheme wrote, under any name, and header lines
// whose name marks them as a credential (`CredentialNames`), whoever wrote them. Other lines of the caller stay.
extension HTTPRequest {
    /// The query items that a token or scheme wrote, percent-decoded.
    var credentialQueryItems: [[UInt8]] {
        let bytes = Array(target.utf8)
        return addedQueryItems.filter(\.provenance.writesCredentials).map { PercentEncoding.decoded(bytes[$0.range]) }
    }

    /// Points the request at the URL that a server redirected it to.
    ///
    /// - Parameters:
    ///   - url: the absolute URL.
    ///   - items: percent-decoded query items to leave out of the new target. A server may pass the query that it received on to
    ///     the next origin, with its credentials, perhaps in another encoding. On the same origin, the token writes its items
    ///     again.
    mutating func redirect(to url: String, leavingOut items: [[UInt8]]) throws(InvalidRequestError) {
        let parsed = try HTTPURL(url)
        origin = parsed.origin
        addedQueryItems = []
        let parts = parsed.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !items.isEmpty else {
            target = parsed.target
            return
        }
        let all = parts[1].split(separator: "&", omittingEmptySubsequences: false)
        let kept = all.filter { !items.contains(PercentEncoding.decoded($0.utf8)) }
        target = kept.count == all.count ? parsed.target : parts[0] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
    }

    /// Removes query items of a request that was redirected.
    mutating func removeQueryItems(where isRemoved: (Substring.UTF8View) -> Bool) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, addedQueryItems.isEmpty else { return }
        let all = parts[1].split(separator: "&", omittingEmptySubsequences: false)
        let kept = all.filter { !isRemoved($0.utf8) }
        if kept.count < all.count { target = parts[0] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&")) }
    }

    /// Whether the request has anything that a token or scheme wrote, or a header line with a credential's name.
    package var carriesCredentials: Bool {
        proxyAuthorization != nil || addedQueryItems.contains(where: \.provenance.writesCredentials)
            || headers.contains(where: { $0.provenance.writesCredentials || CredentialNames.standard.contains($0.name.utf8) })
    }

    /// Removes everything that a token or scheme wrote, and the header lines with a credential's name.
    mutating func stripCredentials() {
        headers.removeAll(where: \.writesCredentials)
        headers.removeNames { CredentialNames.standard.contains($0) }
        stripCredentialQueryItems()
    }

    /// Removes the query items that a token or scheme wrote.
    mutating func stripCredentialQueryItems() {
        while let item = addedQueryItems.firstIndex(where: \.provenance.writesCredentials) { removeAddedQueryItem(at: item) }
    }
}

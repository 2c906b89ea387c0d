internal import NevodPluginKit
internal import NevodSupport

extension Site {
    /// Whether a response rejects a request's CSRF token.
    func saysStale(_ answer: Answer) -> Bool {
        guard requestToken != nil else { return false }
        if csrfStale.hold(in: answer) { return true }
        switch answer.status {
        case 419: return true
        case 400, 403, 422: return answer.speaksOfCSRF
        default: return false
        }
    }
}

extension Answer {
    /// Whether the body mentions CSRF. Skips a page's tags, because its forms may have tokens.
    var speaksOfCSRF: Bool {
        var text: [UInt8] = []
        var isTag = false
        body.withUnsafeBytes { bytes in
            for byte in bytes {
                if type == .html, byte == UInt8(ascii: "<") { isTag = true }
                if !isTag { text.append(byte.lowercased) }
                if byte == UInt8(ascii: ">") { isTag = false }
            }
        }
        return ["csrf", "xsrf", "authenticity", "cross-site request"].contains { text.firstRange(ofBytes: Array($0.utf8)) != nil }
    }
}

extension Browser {
    /// Fetches a page with the CSRF token for requests.
    ///
    /// - Returns: false if the session has ended.
    func fetchRequestToken(_ token: CSRFToken, at url: PageURL) async throws(SchemeError) -> Bool {
        forgetRequestToken()
        let answer = try await visit(url, for: token)
        if url == site.probe, site.probeSuccess.isEmpty, !site.isLoggedIn(answer) { return false }
        // The login page may show its form and a token to everybody.
        if site.saysEnded(answer) || site.hasEnded(jar) || site.isLogin(answer.url) && !site.isLogin(url) { return false }
        guard requestToken != nil || token.read(from: answer, jar.sent(to: url, at: flow.unixSeconds)) != nil else {
            throw .unavailable(
                "the page \(answer.url.origin + answer.url.path) has no CSRF token: no \(token.place) (status \(answer.status)); set "
                    + "request-csrf-page to one that has it")
        }
        return true
    }
}

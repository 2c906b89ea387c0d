internal import NevodPluginKit
internal import NevodSupport

extension CookieAuth {
    func authorize(_ request: borrowing RequestView, _ session: Session, _ edits: Edits) throws(SchemeError) {
        if site.hasEnded(session.jar) { throw .badToken("the server has deleted the session's cookie") }
        let url = PageURL(of: request)
        let cookies = session.jar.sent(to: url, at: request.unixSeconds)
        for cookie in cookies { edits.addCookie(cookie.name, cookie.value) }
        // An address that gets none of the session's cookies is not the site.
        guard !cookies.isEmpty else { return }
        let headers = site.sendsHeaders(to: url, with: cookies) ? site.headers : []
        for (name, value) in headers { edits.setHeader(name, value) }
        if let token = site.requestToken, !request.isSafe {
            prove(request, at: url, headers, token, value(of: token, for: url, request, session, cookies), edits)
        }
    }

    /// The CSRF token for a request; nil if there is none, or if it is another origin's.
    private func value(
        of token: CSRFToken, for url: PageURL, _ request: borrowing RequestView, _ session: Session, _ cookies: [JarCookie]
    ) -> String? {
        if token.source == .cookie {
            return site.origins.contains { $0.equals(url.origin) } ? token.read(from: nil, cookies) : nil
        }
        let latest = request.state.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) }.flatMap { session.kept($0) }
        return [latest, session.csrf].lazy.compactMap { $0 }.first { $0.origin.equals(url.origin) }?.value
    }

    /// Shows the server that a request comes from its own page: by the token, and by the lines that browsers write. The caller's own
    /// lines, and those of the settings, stay.
    private func prove(
        _ request: borrowing RequestView, at url: PageURL, _ headers: [(name: String, value: String)], _ token: CSRFToken,
        _ value: String?, _ edits: Edits
    ) {
        guard site.origins.contains(where: { $0.equals(url.origin) }) else { return }
        let lines = request.lines
        let has = { (name: String) in (lines + headers).contains { $0.name.equalsIgnoringCase(name) } }
        if !has("Origin") { edits.setHeader("Origin", url.origin) }
        if !has("Referer") { edits.setHeader("Referer", url.origin + "/") }
        guard let value else { return }
        if let header = token.header, !has(header) { edits.setHeader(header, value) }
        guard let field = token.field, !request.hasStreamedBody,
            let type = lines.first(where: { $0.name.equalsIgnoringCase("Content-Type") })?.value,
            let form = FormBody(contentType: type)
        else { return }
        let body = request.body.withUnsafeBufferPointer { Array($0) }
        if let body = form.adding(field, value, to: body) { edits.replaceBody(body.span) }
    }

    func respond(
        to response: borrowing ResponseView, _ request: borrowing RequestView, _ session: Session?, _ edits: ResponseEdits
    ) -> Verdict {
        // The host logs in again by itself, and cookies in such a response end the session. After a CSRF token that was fetched anew it
        // doesn't, since the session's token was this fresh.
        guard response.status != 401 else { return site.requestToken != nil && request.attempt > 1 ? .challenge : .nothing }
        let url = PageURL(of: request)
        // A host that gets none of the session's cookies neither ends nor changes the session.
        guard let session, session.jar.reaches(url.host) else { return .nothing }
        var new = session.jar
        let lines = response.headers(named: "Set-Cookie")
        if !lines.isEmpty { new.store(lines, from: url, at: request.unixSeconds, publicSuffixes) }
        let isLogout = site.isLogout(url, String(copying: request.method))
        let deleted = isLogout ? [] : session.jar.deleted(in: new)
        let answer = Answer(
            status: response.status, url: url, headers: response.headers,
            body: response.body.withUnsafeBytes { Secret(copying: $0) }, newCookies: [], deletedCookies: deleted,
            names: site.pageNames)
        let lost = !isLogout && site.hasEnded(new) && !site.hasEnded(session.jar)
        if isChallenge(answer), !isLogout {
            // Once: a server that refuses its own newest token refuses the request.
            let isStale = !request.isSafe && site.saysStale(answer)
            if isStale, request.attempt == 1 || site.expired.hold(in: answer) { return .challenge }
            // A request that has ended the session itself has done its work, and isn't sent again.
            if !isStale, site.saysEnded(answer, isSafe: request.isSafe) || lost && request.isSafe { return .challenge }
        }
        keepToken(of: answer, session, edits)
        // If the response deletes the last cookie, the old session stays: the server's next refusal leads to a login.
        if !lines.isEmpty, new.reaches(url.host), new.isWorthKeeping(insteadOf: session.jar, at: request.unixSeconds) {
            edits.keep(issued(Session(new, csrf: session.csrf, id: session.id)))
        }
        return .nothing
    }

    /// Whether the host acts on the verdict about a response.
    private func isChallenge(_ answer: Answer) -> Bool {
        guard answer.status / 100 == 2 else { return answer.status == 403 || challengeStatuses.contains(answer.status) }
        let type = MediaType.essence(of: answer.headers)
        return challengeTypes.contains { $0.equals(type) }
    }

    /// Keeps the CSRF token of the page that a request got, for the next request that changes something.
    private func keepToken(of answer: Answer, _ session: Session, _ edits: ResponseEdits) {
        guard let token = site.requestToken, requestCSRFPage == nil, let value = token.read(from: answer, []) else { return }
        edits.setState(Array(session.kept(IssuedCSRF(value: value, origin: answer.url.origin)).utf8))
    }
}

extension RequestView {
    /// Whether the method changes nothing at the server (RFC 9110 §9.2.1).
    fileprivate var isSafe: Bool {
        let method = method.withUnsafeBufferPointer { Array($0) }
        return ["GET", "HEAD", "OPTIONS", "TRACE"].contains { method.elementsEqual($0.utf8) }
    }

    fileprivate var lines: [(name: String, value: String)] {
        var lines: [(name: String, value: String)] = []
        forEachHeader { name, value in lines.append((String(copying: name), String(copying: value))) }
        return lines
    }
}

internal import NevodPluginKit
internal import NevodSupport

/// Decides whether a response says that the session has ended, or that its CSRF token is no longer valid.
extension CookieAuth {
    func respond(
        to response: borrowing ResponseView, _ request: borrowing RequestView, _ session: Session?, _ edits: ResponseEdits
    ) -> Verdict {
        // After a 401, the host logs in again even without a verdict, and cookies in such a response end the session. But if the
        // CSRF token was just fetched again, the host considers the session fresh and doesn't log in, so ask for a challenge.
        guard response.status != 401 else { return site.requestToken != nil && request.attempt > 1 ? .challenge : .nothing }
        let url = PageURL(of: request)
        // A host that gets no cookies of the session can't end or change the session.
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
            // Only once: if the server rejects even its newest token, the request itself is at fault.
            let isStale = !request.isSafe && site.saysStale(answer)
            if isStale, request.attempt == 1 || site.expired.hold(in: answer) { return .challenge }
            // An unsafe request that ended the session itself has done its work, and isn't sent again.
            if !isStale, site.saysEnded(answer, isSafe: request.isSafe) || lost && request.isSafe { return .challenge }
        }
        keepToken(of: answer, session, edits)
        // If the response deletes the last cookie, keep the old session; the server's next rejection leads to a login.
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

    /// Meets a challenge. If the server rejected the CSRF token, fetches a new one. If the session hasn't ended, returns the same
    /// session, so that the caller gets the response. Otherwise fails, so that a login begins the next session.
    func challenge(_ flow: AuthFlow, _ response: FlowResponse, _ session: Session?) async throws(SchemeError) -> IssuedToken {
        let ended = SchemeError.badToken("the session has ended")
        guard let session, let url = PageURL(response.url) else { throw ended }
        let answer = Answer(
            status: response.status, url: url, headers: response.headers, body: response.body, newCookies: [], deletedCookies: [])
        var browser = Browser(of: self, flow, session)
        var isKnown = false
        // A sign-up often leads to the login, or shows its form, even for a logged-in user. Sending it again would sign up twice.
        if let probe = site.probe, site.isDoubtful(answer) {
            // The response may have set a new cookie.
            var jar = session.jar
            jar.store(response.headers(named: "Set-Cookie"), from: url, at: flow.unixSeconds, publicSuffixes)
            browser.restore(jar)
            let seen = try await browser.probe(probe)
            try Site.checkTrouble(seen)
            isKnown = site.isLoggedIn(seen)
            if isKnown {
                if browser.session.jar != session.jar { try await flow.keep(issued(browser.session)) }
                guard site.saysStale(answer) else { return issued(session) }
            } else {
                browser = Browser(of: self, flow, session)
            }
        }
        guard let token = site.requestToken, site.saysStale(answer), isKnown || !site.saysEnded(answer), let page = csrfPage
        else { throw ended }
        guard try await browser.fetchRequestToken(token, at: page) else { throw ended }
        flow.setState([])
        return issued(browser.session)
    }
}

extension Site {
    /// Whether a response looks as if the session has ended, but might be an ordinary page of the application: a redirect to the
    /// login, or its form.
    fileprivate func isDoubtful(_ answer: Answer) -> Bool {
        guard answer.status != 401, !expired.hold(in: answer) else { return false }
        if let next = answer.location { return isLogin(next) }
        return isLoginForm(answer, isSafe: true)
    }

    /// Whether a response says that the session has ended.
    ///
    /// - Parameter isSafe: whether the request was safe (RFC 9110 §9.2.1).
    func saysEnded(_ answer: Answer, isSafe: Bool = true) -> Bool {
        if answer.status == 401 || expired.hold(in: answer) { return true }
        if let next = answer.location {
            // If the login is the site's start page, the site redirects there even after successful changes.
            return isLogin(next) && !isLogin(answer.url) && (isSafe || !isStart(next))
        }
        return isLoginForm(answer, isSafe: isSafe) && !isLoginPage(answer.url)
    }
}

extension RequestView {
    /// Whether the method changes nothing at the server (RFC 9110 §9.2.1).
    var isSafe: Bool {
        let method = method.withUnsafeBufferPointer { Array($0) }
        return ["GET", "HEAD", "OPTIONS", "TRACE"].contains { method.elementsEqual($0.utf8) }
    }
}

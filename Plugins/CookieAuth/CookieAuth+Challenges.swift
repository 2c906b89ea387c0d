internal import NevodPluginKit
internal import NevodSupport

extension CookieAuth {
    /// Meets a challenge: fetches the session's CSRF token anew, if that is what the server refused; returns the same session if it
    /// hasn't ended, so that the response stands; otherwise a login begins the next one.
    func challenge(_ flow: AuthFlow, _ response: FlowResponse, _ session: Session?) async throws(SchemeError) -> IssuedToken {
        let ended = SchemeError.badToken("the session has ended")
        guard let session, let url = PageURL(response.url) else { throw ended }
        let answer = Answer(
            status: response.status, url: url, headers: response.headers, body: response.body, newCookies: [], deletedCookies: [])
        var browser = Browser(of: self, flow, session)
        var isKnown = false
        // A sign-up often leads to the login, or shows its form, though somebody is logged in. Sent again, it would be a second one.
        if let probe = site.probe, site.isDoubtful(answer) {
            // The response may have given the session another cookie.
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

    /// The page with the CSRF token for requests, or one that probably has it.
    var csrfPage: PageURL? {
        if let page = requestCSRFPage { return PageURL(page.text) }
        return site.probe ?? site.formPage ?? (site.loginToken == nil ? nil : site.loginPage)
    }
}

extension Site {
    /// Whether a response seems to say that the session has ended, and may be the page of an application for others: a redirect to the
    /// login, or its form.
    fileprivate func isDoubtful(_ answer: Answer) -> Bool {
        guard answer.status != 401, !expired.hold(in: answer) else { return false }
        if let next = answer.location { return isLogin(next) }
        return isLoginForm(answer, isSafe: true)
    }

    /// Whether a response refuses a request's CSRF token.
    func saysStale(_ answer: Answer) -> Bool {
        guard requestToken != nil else { return false }
        if csrfStale.hold(in: answer) { return true }
        switch answer.status {
        case 419: return true
        case 400, 403, 422: return answer.speaksOfCSRF
        default: return false
        }
    }

    /// Whether a response says that the session has ended.
    ///
    /// - Parameter isSafe: whether it is one to a request that changes nothing.
    func saysEnded(_ answer: Answer, isSafe: Bool = true) -> Bool {
        if answer.status == 401 || expired.hold(in: answer) { return true }
        if let next = answer.location {
            // A site whose login is its start leads there after changes as well.
            return isLogin(next) && !isLogin(answer.url) && (isSafe || !isStart(next))
        }
        return isLoginForm(answer, isSafe: isSafe) && !isLoginPage(answer.url)
    }
}

extension Answer {
    /// Whether the body has words about CSRF, outside the tags of a page: its forms may have tokens.
    var speaksOfCSRF: Bool {
        var text: [UInt8] = []
        var isTag = false
        body.withUnsafeBytes { bytes in
            for byte in bytes {
                if type == .html, byte == UInt8(ascii: "<") { isTag = true }
                if !isTag { text.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte) }
                if byte == UInt8(ascii: ">") { isTag = false }
            }
        }
        return ["csrf", "xsrf", "authenticity", "cross-site request"].contains { text.firstRange(ofBytes: Array($0.utf8)) != nil }
    }
}

internal import NevodPluginKit
internal import NevodSupport

/// What proves that a login has succeeded.
extension Login {
    /// Decides what a response means. If the response itself doesn't say, looks at the page that it leads to, and at the probe.
    func settle(_ answer: Answer, isCode: Bool) async throws(SchemeError) -> LoginResult {
        let result = try LoginResult(answer, toCode: isCode, site)
        switch result {
        case .codeRequired, .codeExpired: return result
        case .refused(let reason): return .refused(try await words(of: answer, reason))
        case .loggedIn:
            try checkCookies(answer)
            return result
        case .open: break
        }
        // A cookie proves nothing: many servers set their session's cookie with each response, then redirect to a page that asks
        // for more.
        let landing = try await landing(of: answer)
        let isBack = landing.map { site.isLogin($0.url) } ?? false
        if let landing {
            if let asking = codeRequest(isCode) { return .codeRequired(asking) }
            // A page for logged-in users may have a field of that name too, such as a page to change the password.
            let hasOtherSign = site.probe != nil || site.sessionCookie != nil
            if site.isLoginForm(landing, isSafe: true) || (isBack || !hasOtherSign) && site.asksForPassword(landing) {
                return .refused(said(by: landing, "the server showed the login page again"))
            }
        }
        if let probe = site.probe {
            if site.sessionCookie != nil, !isBack { try checkCookies(answer) }
            return try await ask(probe, after: answer, landing, isCode)
        }
        if let landing, isBack {
            // An address that had the form before, but doesn't now, may be a page for logged-in users.
            if landing.url.isPart(of: site.loginPage), landing.url != formURL {
                return .refused(said(by: landing, Self.back))
            }
            if landing.url.isPart(of: site.loginPage) || landing.url != formURL || !site.isStart(landing.url) {
                throw Self.unclear(landing)
            }
        }
        if site.sessionCookie != nil { try checkCookies(answer) }
        return try confirm(answer, landing, isCode)
    }

    /// The page that a redirect leads to. If the page can't be read, but the session's cookie alone proves the login and the page
    /// can't ask for more, returns nil instead of failing.
    private func landing(of answer: Answer) async throws(SchemeError) -> Answer? {
        do throws(SchemeError) {
            return try await browser.follow(answer)
        } catch {
            let mayAsk = site.secondFactor != nil || answer.location.map { site.isLogin($0) } ?? false
            guard site.sessionCookie != nil, site.probe == nil, !mayAsk, !error.isCancellation else { throw error }
            return nil
        }
    }

    private static let back = "the server led back to the login page"

    /// The last response on the way to the latest page that asks for a code. After a code was sent, only a form on the code's own
    /// pages asks for another one.
    private func codeRequest(_ isCode: Bool) -> Answer? {
        guard let secondFactor = site.secondFactor else { return nil }
        guard isCode else { return browser.trail.last { secondFactor.asksForCode($0) } }
        return browser.trail.last { answer in
            guard answer.page != nil else { return secondFactor.asksForCode(answer) }
            return codePages.contains { $0.path.equals(answer.url.path) }
                && (secondFactor.asksForCode(answer) || secondFactor.hasForm(answer))
        }
    }

    /// Checks that a login has set the session's cookie, or any cookie if the settings don't name it.
    private func checkCookies(_ answer: Answer) throws(SchemeError) {
        guard let sessionCookie = site.sessionCookie, let name = scheme.sessionCookie else {
            guard browser.jar.cookies.isEmpty else { return }
            throw .unavailable("the server set no valid cookie (status \(answer.status))")
        }
        guard browser.newCookies.contains(where: { sessionCookie.matches($0) }) else {
            throw .unavailable("the server set no valid cookie \(name) (status \(answer.status))")
        }
    }

    /// Requests the address that only a logged-in user may see.
    private func ask(
        _ probe: PageURL, after answer: Answer, _ landing: Answer?, _ isCode: Bool
    ) async throws(SchemeError) -> LoginResult {
        let seen: Answer
        if let landing, landing.url == probe {
            seen = landing
        } else {
            seen = try await browser.probe(probe)
            if !isCode, let asking = codeRequest(isCode) { return .codeRequired(asking) }
        }
        try Site.checkTrouble(seen)
        if seen.url != probe { try checkNoCode(seen) }
        if site.isLoggedIn(seen) {
            try checkCookies(answer)
            return .loggedIn
        }
        if seen.status / 100 == 2, seen.url == probe, site.asksForPassword(seen), !site.hasLoginFields(seen) {
            throw .unavailable(
                "the probe \(probe.path) is a page with the field \(scheme.passwordField), which doesn't say whether the login "
                    + "succeeded; set probe to another address that only a logged-in user may see")
        }
        for page in [answer, landing] { if let page { try checkNoCode(page) } }
        let isBack = landing.map { site.isLogin($0.url) } ?? false
        let place = seen.url == probe ? probe.path : "\(probe.path), which led to \(seen.url.path)"
        let reason = isBack ? Self.back : "the server doesn't know the session at \(place) (status \(seen.status))"
        for page in [answer, landing, seen] {
            if let page, ServerWords.words(of: page, hiding: hidden) != nil { return .refused(said(by: page, reason)) }
        }
        return .refused(reason)
    }

    /// Decides by the last page, because there is no better sign: a cookie or a redirect alone proves nothing. A page at the
    /// address that the form was sent to proves nothing either, unless it sets the cookie that the settings name.
    private func confirm(_ answer: Answer, _ landing: Answer?, _ isCode: Bool) throws(SchemeError) -> LoginResult {
        let last = landing ?? answer
        try checkNoCode(last)
        let isOwnPage = landing == nil && last.type == .html
        if isCode, isOwnPage || site.secondFactor?.hasForm(last) == true { throw Self.unclear(last) }
        if let landing, landing.status == 401 || landing.status == 403 || landing.status >= 500 { throw Self.unclear(landing) }
        if site.sessionCookie != nil { return .loggedIn }
        guard !browser.newCookies.isEmpty else {
            throw .unavailable(
                "the server set no valid cookie (status \(last.status)); if the login succeeded, set probe to an address "
                    + "that only a logged-in user may see")
        }
        guard last.page?.hasPassword != true else {
            throw .unavailable(
                "the page after the login, \(last.url.path), asks for a password, but has no field \(scheme.passwordField): correct "
                    + "password-field, or set probe to an address that only a logged-in user may see")
        }
        guard last.status / 100 == 2 else { throw Self.unclear(last) }
        if scheme.format == .json, last.page != nil {
            throw .unavailable("the server responded with a page instead of JSON (status \(last.status))")
        }
        if isOwnPage { throw Self.unclear(last) }
        return .loggedIn
    }

    /// Throws if a page asks for a one-time code but no setting says so, because the login would be incomplete.
    private func checkNoCode(_ answer: Answer) throws(SchemeError) {
        guard site.secondFactor == nil, let field = answer.page?.codeField else { return }
        throw .unavailable(
            "the page after the login, \(answer.url.path), asks for a one-time code: set mfa-code=\(field) and mfa-when=field:\(field)"
        )
    }

    private static func unclear(_ last: Answer) -> SchemeError {
        .unavailable(
            "the login led to \(last.url.path) with status \(last.status), which doesn't say whether it succeeded; set probe to an "
                + "address that only a logged-in user may see")
    }

    /// The reason, with the server's own words. They may be on the page that a redirect leads to.
    private func words(of answer: Answer, _ reason: String) async throws(SchemeError) -> String {
        if ServerWords.words(of: answer, hiding: hidden) != nil { return said(by: answer, reason) }
        guard answer.location != nil else { return reason }
        do throws(SchemeError) {
            return try await browser.follow(answer).map { said(by: $0, reason) } ?? reason
        } catch {
            if error.isCancellation { throw error }
            return reason
        }
    }

    private func said(by answer: Answer, _ reason: String) -> String {
        ServerWords.words(of: answer, hiding: hidden).map { "\(reason), saying \"\($0)\"" } ?? reason
    }
}

extension Site {
    /// Whether the response to a probe is for a logged-in user.
    func isLoggedIn(_ answer: Answer) -> Bool {
        if !probeSuccess.isEmpty { return probeSuccess.hold(in: answer) }
        // Many sites redirect users who may not see an address, so a page elsewhere doesn't count.
        guard let probe, answer.url == probe || answer.url.isBelow(probe) && !isLogin(answer.url) else { return false }
        return answer.status / 100 == 2 && !asksForPassword(answer)
    }

    /// Throws if a probe's response is from a server in trouble, because it says nothing about the session.
    static func checkTrouble(_ answer: Answer) throws(SchemeError) {
        if answer.status == 429 || answer.status >= 500 {
            throw .unavailable("the server can't say now whether the session is valid (status \(answer.status))")
        }
    }
}

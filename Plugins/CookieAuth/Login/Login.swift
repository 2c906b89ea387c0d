internal import NevodPluginKit
internal import NevodSupport

/// A login: sends its requests, one after another, and decides what their responses mean.
struct Login {
    private var browser: Browser
    /// The address where the form was found. It may show another page to a logged-in user.
    private var formURL: PageURL?
    private var wrongCodes = 0
    /// The pages with the code's form, and the address that the form goes to. If one of them shows a form for a code again, the
    /// server asks for another code.
    private var codePages: [PageURL] = []
    /// The password, which no message repeats.
    private var password: Secret?

    private var site: Site { browser.site }
    private var hidden: [Secret] { password.map { [$0] } ?? [] }
    private var scheme: CookieAuth { browser.scheme }

    init(_ browser: Browser) {
        self.browser = browser
    }

    mutating func run() async throws(SchemeError) -> IssuedToken {
        let (username, password) = try await credentials()
        self.password = password
        for _ in 0..<2 {
            var result = try await begin(username, password)
            while case .codeRequired(let answer) = result, let secondFactor = site.secondFactor {
                result = try await finish(answer, with: secondFactor)
            }
            switch result {
            case .loggedIn, .open:
                try await fetchRequestToken()
                return scheme.issued(browser.session, account: username.asAccount)
            case .refused(let words): throw .denied("\(words): is the user name or the password wrong?")
            case .codeExpired, .codeRequired: break
            }
        }
        throw .unavailable(
            "the server's request for a one-time code expired twice; log in again, and enter the code sooner")
    }

    /// Asks for all missing credentials at once.
    private func credentials() async throws(SchemeError) -> (username: String, password: Secret) {
        var questions: [FlowQuestion] = []
        let needsName = !scheme.usernameField.isEmpty
        if needsName, scheme.username == nil { questions.append(.text("username", "User name")) }
        if scheme.password == nil { questions.append(.secret("password", "Password")) }
        let answers = questions.isEmpty ? [:] : try await browser.flow.ask(questions)
        guard let username = needsName ? scheme.username ?? answers["username"].map(String.init(revealing:)) : "",
            let password = scheme.password ?? answers["password"]
        else { throw .internal("the host gave no answer to a question") }
        return (username, password)
    }

    /// Starts the login without cookies.
    private mutating func begin(_ username: String, _ password: Secret) async throws(SchemeError) -> LoginResult {
        browser.restart()
        let form = try await openForm()
        var fields = Fields(form?.fields ?? [])
        for (name, value) in site.fields { fields.set(name, .string(value)) }
        if !scheme.usernameField.isEmpty { fields.set(scheme.usernameField, .string(username)) }
        fields.set(scheme.passwordField, .secret(password))
        browser.forgetRequestToken()
        let answer = try await browser.submit(fields, to: form?.target ?? site.loginPage)
        return try await settle(answer, isCode: false)
    }

    /// Fetches the page with the form or the CSRF token, if the login needs one.
    ///
    /// - Returns: the page's form; nil if the login doesn't send a form, or if the page has none.
    private mutating func openForm() async throws(SchemeError) -> SubmittedForm? {
        guard site.loginToken != nil || site.formPage != nil else { return nil }
        let answer = try await browser.visit(site.formPage ?? site.loginPage, for: site.loginToken)
        let place = answer.url.origin + answer.url.path
        if let token = site.loginToken, browser.loginToken == nil {
            throw .unavailable("the page \(place) has no CSRF token: no \(token.place) (status \(answer.status))")
        }
        guard scheme.format == .form else { return nil }
        // If `login` is a separate address, the user's setting counts. Otherwise the form's own target counts.
        let isOwn = site.formPage == nil || site.formPage == site.loginPage
        let form = try SubmittedForm(ofLogin: answer, scheme, at: isOwn ? site.loginPage.origin : nil)
        if form != nil { formURL = answer.url }
        if form == nil, site.loginToken == nil, site.formPage == site.loginPage {
            throw .unavailable(
                "the page \(place) has no form with the field \(scheme.passwordField) (status \(answer.status))")
        }
        return form
    }

    // MARK: One-time codes

    private mutating func finish(
        _ challenge: Answer, with secondFactor: SecondFactor
    ) async throws(SchemeError) -> LoginResult {
        let form = try await codeForm(challenge, secondFactor)
        guard let url = secondFactor.url ?? form?.target else {
            throw .unavailable("there is no form with the field \(secondFactor.codeField) for the code; set mfa or mfa-page")
        }
        codePages.append(url)
        let code = try await code(secondFactor)
        var fields = Fields(form?.fields ?? [])
        if let (name, value) = secondFactor.session(in: challenge) { fields.set(name, value) }
        for (name, value) in secondFactor.fields { fields.set(name, .string(value)) }
        fields.set(secondFactor.codeField, .secret(code))
        browser.forgetRequestToken()
        let answer = try await browser.submit(fields, to: url)
        let result = try await settle(answer, isCode: true)
        switch result {
        case .loggedIn, .open, .codeExpired: return result
        case .codeRequired, .refused:
            wrongCodes += 1
            guard wrongCodes < (secondFactor.totp == nil ? SecondFactor.mostCodes : 2) else {
                let words = ServerWords.words(of: answer, hiding: [code] + hidden).map { ": \"\($0)\"" } ?? ""
                throw .denied("the server refused \(wrongCodes) one-time codes\(words)")
            }
            // A server that asks again may have started a new challenge.
            if case .codeRequired(let next) = result, next.page != nil || secondFactor.session(in: next) != nil { return result }
            return .codeRequired(challenge)
        }
    }

    /// The form for the code: from the response, from the page that it leads to, or from a separate page.
    private mutating func codeForm(
        _ challenge: Answer, _ secondFactor: SecondFactor
    ) async throws(SchemeError) -> SubmittedForm? {
        guard scheme.format == .form else { return nil }
        let origin = secondFactor.url?.origin ?? site.loginPage.origin
        codePages = [challenge.url]
        if let form = try SubmittedForm(in: challenge, with: secondFactor.codeField, at: origin) { return form }
        let page =
            if let page = secondFactor.page { try await browser.visit(page) } else { try await browser.follow(challenge) }
        guard let page else { return nil }
        codePages.append(page.url)
        return try SubmittedForm(in: page, with: secondFactor.codeField, at: origin)
    }

    private func code(_ secondFactor: SecondFactor) async throws(SchemeError) -> Secret {
        guard let totp = secondFactor.totp else {
            let prompt = wrongCodes == 0 ? "One-time code" : "One-time code (the last one was refused)"
            return try await browser.flow.ask(.code("code", prompt))
        }
        if wrongCodes > 0 {
            // The server accepts each code once, and another login may have used this one.
            let seconds = totp.period - browser.flow.unixSeconds % totp.period
            try await browser.flow.wait(.seconds(seconds))
        }
        return try totp.code(at: browser.flow.unixSeconds)
    }

    // MARK: Results

    /// Decides what a response means. If the response itself doesn't say, looks at the page that it leads to, and at the probe.
    private mutating func settle(_ answer: Answer, isCode: Bool) async throws(SchemeError) -> LoginResult {
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

    /// The page that a redirect leads to. If it can't be read, but the session's cookie decides, returns nil instead of failing,
    /// unless the page may ask for more.
    private mutating func landing(of answer: Answer) async throws(SchemeError) -> Answer? {
        do throws(SchemeError) {
            return try await browser.follow(answer)
        } catch {
            let mayAsk = site.secondFactor != nil || answer.location.map { site.isLogin($0) } ?? false
            guard site.sessionCookie != nil, site.probe == nil, !mayAsk, !error.isCancellation else { throw error }
            return nil
        }
    }

    private static let back = "the server led back to the login page"

    /// The last response on the way to the latest page that asks for a code. After a code was sent, a form for a code on the code's
    /// own pages asks again; such a form on other pages doesn't.
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
    private mutating func ask(
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

    /// Decides by the last page, because nothing better is left and a cookie and a redirect alone prove nothing. A page at the
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

    /// Checks that a page doesn't ask for a one-time code without a setting for it, because the login would be incomplete.
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
    private mutating func words(of answer: Answer, _ reason: String) async throws(SchemeError) -> String {
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

    // MARK: Tokens for requests

    /// Fetches the CSRF token for the session's requests, if a setting names an address for it. A session without a token is valid
    /// too; a request that needs the token fetches it later.
    private mutating func fetchRequestToken() async throws(SchemeError) {
        guard let token = site.requestToken, token.source != .cookie, let page = scheme.requestCSRFPage,
            let url = PageURL(page.text)
        else { return }
        do throws(SchemeError) {
            _ = try await browser.fetchRequestToken(token, at: url)
        } catch {
            if error.isCancellation { throw error }
        }
    }
}

extension Browser {
    /// Fetches a page with the CSRF token for requests.
    ///
    /// - Returns: false if the session has ended.
    mutating func fetchRequestToken(_ token: CSRFToken, at url: PageURL) async throws(SchemeError) -> Bool {
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

extension Site {
    /// Whether the response to a probe is for a logged-in user.
    func isLoggedIn(_ answer: Answer) -> Bool {
        if !probeSuccess.isEmpty { return probeSuccess.hold(in: answer) }
        // Many sites redirect users who may not see an address, so a page elsewhere doesn't count.
        guard let probe, answer.url == probe || answer.url.isBelow(probe) && !isLogin(answer.url) else { return false }
        return answer.status / 100 == 2 && !asksForPassword(answer)
    }

    /// Checks that a probe's response isn't from a server in trouble, which says nothing about a session.
    static func checkTrouble(_ answer: Answer) throws(SchemeError) {
        if answer.status == 429 || answer.status >= 500 {
            throw .unavailable("the server can't say now whether the session is valid (status \(answer.status))")
        }
    }
}

extension String {
    /// The text as an account's name; empty if the host would refuse it because it has more than 256 bytes or control characters.
    fileprivate var asAccount: String {
        utf8.count <= 256 && !utf8.contains { $0.isControl } ? self : ""
    }
}

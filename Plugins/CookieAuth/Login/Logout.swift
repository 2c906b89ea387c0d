internal import NevodPluginKit
internal import NevodSupport

/// A logout. It has succeeded when the server no longer knows the session.
struct Logout {
    private let browser: Browser

    private var site: Site { browser.site }
    private var scheme: CookieAuth { browser.scheme }

    init(_ browser: Browser) {
        self.browser = browser
    }

    func run(at address: String) async throws(SchemeError) {
        guard let url = PageURL(address) else { throw .internal("the plugin made an invalid URL") }
        let session = browser.session
        guard let (form, target) = try await openForm(for: url) else { return try await confirmEnd(of: session) }
        var fields = form
        for (name, value) in site.logoutFields { fields.set(name, .string(value)) }
        var answer = try await browser.submitInSession(fields, scheme.logoutMethod, to: target)
        if site.saysStale(answer), let token = site.requestToken, let page = scheme.csrfPage {
            guard try await browser.fetchRequestToken(token, at: page) else { return try await confirmEnd(of: session) }
            answer = try await browser.submitInSession(fields, scheme.logoutMethod, to: target)
        }
        let hasSign = site.logoutSuccess.hold(in: answer)
        guard site.logoutSuccess.isEmpty ? answer.status < 400 || answer.status == 401 : hasSign else {
            let words = ServerWords.words(of: answer, hiding: []).map { ", saying \"\($0)\"" } ?? ""
            throw .unavailable("the server did not log out (status \(answer.status))\(words)")
        }
        try await confirm(session)
    }

    /// Checks whether the session had already ended. A page suggests that it had, but the page may show the login's form to
    /// everybody.
    private func confirmEnd(of session: Session) async throws(SchemeError) {
        guard site.probe != nil else { throw .badToken("the session had already ended") }
        try await confirm(session)
    }

    /// Checks with the probe that the server no longer knows the session.
    private func confirm(_ session: Session) async throws(SchemeError) {
        guard let probe = site.probe else { return }
        // Uses the cookies from before the logout, because the server must no longer accept a copy of them.
        browser.restore(session.jar)
        let seen = try await browser.probe(probe)
        try Site.checkTrouble(seen)
        if site.isLoggedIn(seen) {
            throw .unavailable(
                "the server still knows the session: \(probe.path) accepts its cookies (status \(seen.status)); they are "
                    + "deleted here, but stay valid there until they expire")
        }
    }

    /// Fetches the page with the logout's form, link or CSRF token, if the logout needs one.
    ///
    /// - Returns: the form's fields, and the address to send them to, which may be a link with a token in its query. Nil if the
    ///   session had already ended.
    private func openForm(for url: PageURL) async throws(SchemeError) -> (Fields, PageURL)? {
        if let page = scheme.logoutPage.flatMap({ PageURL($0.text) }) {
            let answer = try await browser.visit(page)
            if let form = try SubmittedForm(in: answer, to: url) { return (Fields(form.fields), form.target ?? url) }
            return (Fields(), answer.link(to: url) ?? url)
        }
        let isSafe = scheme.logoutMethod.equals("GET")
        guard !isSafe, let token = site.requestToken, token.source != .cookie, browser.session.csrf == nil else {
            return (Fields(), url)
        }
        if let page = scheme.csrfPage, try await !browser.fetchRequestToken(token, at: page) { return nil }
        return (Fields(), url)
    }
}

extension Answer {
    /// The page's first link to an address. The link's query may have more items.
    fileprivate func link(to target: PageURL) -> PageURL? {
        guard let page else { return nil }
        let base = page.baseHref.flatMap { url.resolving($0) } ?? url
        return page.links.lazy.compactMap { base.resolving($0) }.first { $0.isPart(of: target) }
    }
}

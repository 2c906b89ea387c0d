internal import NevodPluginKit
internal import NevodSupport

/// A login: sends its requests, one after another, and decides what their responses mean.
final class Login {
    let browser: Browser
    /// The address where the form was found. It may show another page to a logged-in user.
    var formURL: PageURL?
    var wrongCodes = 0
    /// The pages with the code's form, and the address that the form goes to. A form for a code on one of these pages means that
    /// the server asks for another code.
    var codePages: [PageURL] = []
    /// The password, which no message repeats.
    var password: Secret?

    var site: Site { browser.site }
    var hidden: [Secret] { password.map { [$0] } ?? [] }
    var scheme: CookieAuth { browser.scheme }

    init(_ browser: Browser) {
        self.browser = browser
    }

    func run() async throws(SchemeError) -> IssuedToken {
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
        let answers = questions.isEmpty ? [] : try await browser.flow.answers(to: questions)
        guard let username = needsName ? scheme.username ?? answers.value(of: "username").map(String.init(revealing:)) : "",
            let password = scheme.password ?? answers.value(of: "password")
        else { throw .internal("the host gave no answer to a question") }
        return (username, password)
    }

    /// Starts the login without cookies.
    private func begin(_ username: String, _ password: Secret) async throws(SchemeError) -> LoginResult {
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
    private func openForm() async throws(SchemeError) -> SubmittedForm? {
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

    // MARK: Tokens for requests

    /// Fetches the CSRF token for the session's requests, if a setting names an address for it. A session without a token is valid
    /// too; a request that needs the token fetches it later.
    private func fetchRequestToken() async throws(SchemeError) {
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

extension String {
    /// The text as an account's name; empty if the host would refuse it because it is longer than 256 bytes or has control
    /// characters.
    fileprivate var asAccount: String {
        utf8.count <= 256 && !utf8.contains { $0.isControl } ? self : ""
    }
}

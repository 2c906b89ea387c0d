internal import NevodPluginKit
internal import NevodSupport

/// The site as the settings describe it, checked and converted for requests and flows.
struct Site: Sendable {
    private(set) var loginPage = PageURL(scheme: "", authority: "", target: "/")
    /// The page with the login's form, if it has a separate address.
    private(set) var formPage: PageURL?
    private(set) var probe: PageURL?
    private(set) var logout: PageURL?
    /// The origins that the settings name. Flows may send to them.
    private(set) var origins: [String] = []
    private(set) var fields: [(name: String, value: String)] = []
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var loginHeaders: [(name: String, value: String)] = []
    private(set) var loginToken: CSRFToken?
    private(set) var requestToken: CSRFToken?
    private(set) var sessionCookie: Pattern?
    private(set) var success: [Sign] = []
    private(set) var failure: [Sign] = []
    private(set) var probeSuccess: [Sign] = []
    private(set) var expired: [Sign] = []
    private(set) var csrfStale: [Sign] = []
    private(set) var secondFactor: SecondFactor?
    private(set) var logoutFields: [(name: String, value: String)] = []
    private(set) var logoutSuccess: [Sign] = []
    /// The names that a request's page must contain to be read: the login's fields, the fields of signs, and the CSRF token.
    private(set) var pageNames = PageNames([])
    /// The statuses that may be challenges, in addition to 401 and 403.
    private(set) var challengeStatuses = Answer.redirects
    private var logoutMethod = ""
    private var start = ""
    private var usernameField = ""
    private var passwordField = ""

    init() {}

    init(_ settings: CookieAuth) throws(SchemeError) {
        usernameField = settings.usernameField
        passwordField = settings.passwordField
        guard !passwordField.isEmpty, !passwordField.equals(usernameField) else {
            throw .badSetting("password-field", "must not be empty or the same as the user name's")
        }
        if usernameField.isEmpty, settings.username != nil {
            throw .badSetting("username", "has no meaning with an empty username-field")
        }
        if let password = settings.password, password.isEmpty {
            throw .badSetting("password", "must not be empty; leave it out to be asked for it")
        }
        start = settings.siteURL?.text ?? ""
        loginPage = try Self.address(settings.login.text, "login")
        formPage = try Self.address(settings.page, "page")
        probe = try Self.address(settings.probe, "probe")
        logout = try Self.address(settings.logoutURL, "logout")
        origins = try Self.origins(settings, loginPage)
        fields = try Self.fields(settings.fields, "field")
        headers = try Self.headers(settings.headers, "header")
        loginHeaders = try Self.headers(settings.loginHeaders, "login-header")
        loginToken = try CSRFToken(
            settings.csrf, name: settings.csrfName, header: settings.csrfHeader, field: settings.csrfField)
        requestToken = try Self.requestToken(settings)
        csrfStale = try Sign.signs(settings.csrfStale, of: "csrf-stale")
        if let name = settings.sessionCookie {
            guard !name.isEmpty, !name.utf8.contains(where: { "=; ".utf8.contains($0) }) else {
                throw .badSetting("session-cookie", "must be the name of a cookie")
            }
            sessionCookie = Pattern(name)
        }
        success = try Sign.signs(settings.success, of: "success")
        failure = try Sign.signs(settings.failure, of: "failure")
        probeSuccess = try Sign.signs(settings.probeSuccess, of: "probe-success")
        if !probeSuccess.isEmpty, probe == nil { throw .badSetting("probe-success", "has no meaning without probe") }
        expired = try Sign.signs(settings.expired, of: "expired")
        secondFactor = try SecondFactor(settings)
        logoutMethod = settings.logoutMethod
        guard !logoutMethod.isEmpty, logoutMethod.utf8.allSatisfy({ $0.isTokenByte }) else {
            throw .badSetting("logout-method", "must be a method, such as POST or DELETE")
        }
        logoutFields = try Self.fields(settings.logoutFields, "logout-field")
        if logout == nil { try Self.checkNoLogout(settings) }
        logoutSuccess = try Sign.signs(settings.logoutSuccess, of: "logout-success")
        if requestToken != nil { challengeStatuses += [400, 419, 422] }
        try Self.add(expired, "expired", to: &challengeStatuses)
        try Self.add(csrfStale, "csrf-stale", to: &challengeStatuses)
        pageNames = PageNames([passwordField] + (expired + csrfStale).flatMap { $0.fields } + (requestToken?.pageNames ?? []))
    }

    private static func origins(_ settings: CookieAuth, _ loginPage: PageURL) throws(SchemeError) -> [String] {
        var origins = [loginPage.origin]
        let others = [
            ("site", settings.siteURL?.text), ("page", settings.page?.text), ("probe", settings.probe?.text),
            ("request-csrf-page", settings.requestCSRFPage?.text), ("mfa", settings.mfa?.text),
            ("mfa-page", settings.mfaPage?.text), ("logout", settings.logoutURL?.text),
            ("logout-page", settings.logoutPage?.text),
        ]
        for (name, text) in others {
            guard let text else { continue }
            let origin = try address(text, name).origin
            if !origins.contains(where: { $0.equals(origin) }) { origins.append(origin) }
        }
        return origins
    }

    private static func requestToken(_ settings: CookieAuth) throws(SchemeError) -> CSRFToken? {
        let source = settings.requestCSRF.resolved(settings.csrf)
        let isSame = source == settings.csrf
        let isElsewhere = settings.requestCSRFHeader != nil || settings.requestCSRFField != nil
        // Requests send the token in the header that the settings name for the login.
        let inherited = isSame && !isElsewhere && source != .none ? settings.csrfHeader : nil
        let token = try CSRFToken(
            source, name: settings.requestCSRFName ?? (isSame && source != .none ? settings.csrfName : nil),
            header: settings.requestCSRFHeader ?? inherited, field: settings.requestCSRFField, prefix: "request-",
            isForRequests: true)
        if token == nil {
            if settings.requestCSRFPage != nil { throw .badSetting("request-csrf-page", "has no meaning without request-csrf") }
            if !settings.csrfStale.isEmpty { throw .badSetting("csrf-stale", "has no meaning without request-csrf") }
        }
        return token
    }

    /// Adds the statuses that signs name, to ask the host for responses with them.
    private static func add(_ signs: [Sign], _ setting: String, to challengeStatuses: inout [Int]) throws(SchemeError) {
        for sign in signs {
            guard let statuses = sign.statuses else {
                throw .badSetting(setting, "must name each status, such as 440; a class such as 4xx isn't allowed here")
            }
            for status in statuses where status >= 300 && status != 401 && status != 403 && !challengeStatuses.contains(status) {
                challengeStatuses.append(status)
            }
        }
        guard challengeStatuses.count <= 16 else { throw .badSetting(setting, "names too many statuses") }
    }

    private static func checkNoLogout(_ settings: CookieAuth) throws(SchemeError) {
        let others = [
            ("logout-page", settings.logoutPage == nil), ("logout-field", settings.logoutFields.isEmpty),
            ("logout-success", settings.logoutSuccess.isEmpty),
        ]
        for (name, isAbsent) in others where !isAbsent { throw .badSetting(name, "has no meaning without logout") }
    }

    private static func address(_ setting: RelativeURL?, _ name: String) throws(SchemeError) -> PageURL? {
        guard let setting else { return nil }
        return try address(setting.text, name)
    }

    /// Requires the ASCII form of an international name, because redirects and cookies are compared with it.
    private static func address(_ text: String, _ setting: String) throws(SchemeError) -> PageURL {
        guard let page = PageURL(text), page.host.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw .badSetting(setting, "must have an international name in its ASCII form, xn--…")
        }
        return page
    }

    static func fields(_ texts: [String], _ setting: String) throws(SchemeError) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        for text in texts {
            guard let field = text.splitAtEquals else { throw .badSetting(setting, "must be NAME=VALUE") }
            fields.append(field)
        }
        return fields
    }

    private static func headers(_ texts: [String], _ setting: String) throws(SchemeError) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        for text in texts {
            let name = text.utf8.prefix { $0 != UInt8(ascii: ":") }
            let value = text.utf8[name.endIndex...].dropFirst().drop { $0 == 0x20 }
            guard !name.isEmpty, name.endIndex < text.utf8.endIndex, name.allSatisfy({ $0.isTokenByte }),
                value.allSatisfy({ $0.isFieldByte })
            else { throw .badSetting(setting, "must be NAME: VALUE, a header line") }
            guard !TransportHeader.has(name) else {
                throw .badSetting(setting, "must be another header: this one is the host's own")
            }
            headers.append((String(Substring(name)), String(Substring(value))))
        }
        return headers
    }
}

extension Site {
    /// The types of successful responses that may be challenges. Pages are included, because a page may be the login's.
    var challengeTypes: [String] {
        var types = ["text/html"]
        for sign in expired + csrfStale {
            for type in sign.types where !types.contains(where: { $0.equals(type) }) { types.append(type) }
        }
        return types
    }

    /// The session's latest cookie that `session-cookie` names; nil if the setting is missing.
    func sessionCookie(of jar: Jar) -> JarCookie? {
        guard let sessionCookie else { return nil }
        return jar.cookies.last { sessionCookie.matches($0.name) }
    }

    /// Whether the lines of `header` are sent with a request: to the login's origin, and to other origins that get the session's
    /// cookie. A line may be secret, so no line is sent without TLS unless the login has none either.
    func sendsHeaders(to url: PageURL, with cookies: [JarCookie]) -> Bool {
        guard url.isSecure || !loginPage.isSecure else { return false }
        if url.origin.equals(loginPage.origin) { return true }
        guard let sessionCookie else { return !cookies.isEmpty }
        return cookies.contains { sessionCookie.matches($0.name) }
    }

    /// Whether the jar lacks the session's cookie.
    func hasEnded(_ jar: Jar) -> Bool {
        guard let sessionCookie else { return false }
        return !jar.cookies.contains { sessionCookie.matches($0.name) }
    }

    /// Whether a redirect to the URL leads to the login: to its address, or to its page. The query may have further items, such as
    /// the way back. An address that only a logged-in user may see doesn't count.
    func isLogin(_ url: PageURL) -> Bool {
        [loginPage, formPage].contains { page in
            // Redirects to a site's start may have any query.
            guard let page, page.path.equals("/") ? url == page : url.isPart(of: page) else { return false }
            guard let probe, url.isPart(of: probe), probe.isPart(of: page) else { return true }
            // Probe and login page have the same address: a protected page shows the form. If it is the login's own address too, a
            // redirect there always leads to the login.
            return page.isPart(of: probe) && page == loginPage
        }
    }

    /// Whether the URL is the site's start.
    func isStart(_ url: PageURL) -> Bool { url.target.equals("/") || url.text.equals(start) }

    /// Whether the URL is the login's or its page's. Both show the form to everybody.
    func isLoginPage(_ url: PageURL) -> Bool { (url == loginPage || url == formPage) && url != probe }

    /// Whether a request is a logout.
    func isLogout(_ url: PageURL, _ method: String) -> Bool {
        guard let logout, logoutFields.isEmpty else { return false }
        return url.isPart(of: logout) && method.equals(logoutMethod)
    }

    /// Whether a page has the login's form, which asks for user name and password and goes to the login. A form without an address
    /// may be a different one, so it doesn't count after an unsafe request that succeeded.
    func isLoginForm(_ answer: Answer, isSafe: Bool) -> Bool {
        guard let page = answer.page else { return false }
        return page.forms.contains { form in
            guard form.passwords <= 1, let password = form.field(named: passwordField),
                usernameField.isEmpty || form.field(named: usernameField) != nil, !password.autocomplete.equals("new-password")
            else { return false }
            guard !form.action.isEmpty else { return isSafe || answer.status >= 400 }
            return form.goes(to: loginPage, page, answer.url, isStrict: false)
        }
    }

    /// Whether a page has a form with both fields of the login, whatever its target.
    func hasLoginFields(_ answer: Answer) -> Bool { answer.hasForm(with: [usernameField, passwordField]) }

    /// Whether a page has a form with the password's field.
    func asksForPassword(_ answer: Answer) -> Bool { answer.hasForm(with: [passwordField]) }
}

extension PageURL {
    /// Whether the URL has the same path as another, or a path below it.
    func isBelow(_ other: PageURL) -> Bool {
        guard origin.equals(other.origin) else { return false }
        if path.equals(other.path) { return true }
        let folder = other.path.utf8.last == UInt8(ascii: "/") ? other.path : other.path + "/"
        return !folder.equals("/") && path.utf8.starts(with: folder.utf8)
    }

    /// Whether both have the same origin and path, and this URL's query has all items of the other's.
    func isPart(of other: PageURL) -> Bool {
        guard origin.equals(other.origin), path.equals(other.path) else { return false }
        let items = queryItems
        return other.queryItems.allSatisfy { items.contains($0) }
    }

    /// The query's items, decoded.
    var queryItems: [[UInt8]] {
        let query = target.utf8[target.utf8.prefix { $0 != UInt8(ascii: "?") }.endIndex...].dropFirst()
        return query.split(separator: UInt8(ascii: "&")).map { PercentEncoding.decoded($0) }
    }
}

extension String {
    /// The texts before and after the first equals sign; nil without one, or without a name.
    var splitAtEquals: (name: String, value: String)? {
        guard let equals = utf8.firstIndex(of: UInt8(ascii: "=")), equals > startIndex else { return nil }
        return (String(self[..<equals]), String(self[utf8.index(after: equals)...]))
    }
}

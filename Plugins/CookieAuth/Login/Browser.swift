internal import NevodPluginKit
internal import NevodSupport

/// The requests of a flow, as a browser makes them: with the cookies that earlier responses set, and with the previous page's CSRF
/// token.
final class Browser {
    private let held: Held<CookieAuth>
    let flow: AuthFlow
    private(set) var jar: Jar
    /// The latest token for the login's forms, and for requests of the session.
    private(set) var loginToken: IssuedCSRF?
    private(set) var requestToken: IssuedCSRF?
    /// The page that a form is sent from.
    private(set) var page: PageURL?
    /// The responses of the latest walk from page to page, in order.
    private(set) var trail: [Answer] = []
    /// The names of the cookies that responses to forms set. Cookies from earlier pages don't count.
    private(set) var newCookies: [String] = []

    private static let mostRedirects = 5

    var scheme: CookieAuth { held.scheme }
    var site: Site { held.scheme.site }
    var session: Session { Session(jar, csrf: requestToken, id: id) }

    /// Whether the flow is a login and has no session yet.
    private let isLogin: Bool
    private let id: String

    /// - Parameter session: nil for a login.
    init(of scheme: CookieAuth, _ flow: AuthFlow, _ session: Session? = nil) {
        (held, self.flow, isLogin) = (Held(scheme), flow, session == nil)
        (jar, requestToken) = (session?.jar ?? Jar(), session?.csrf)
        let digits = flow.random.prefix(8).flatMap { [Hexadecimal.digit($0 >> 4), Hexadecimal.digit($0 & 15)] }
        id = session?.id ?? String(decoding: digits, as: UTF8.self)
    }

    /// Forgets everything, for another login.
    func restart() {
        (jar, loginToken, requestToken, page) = (Jar(), nil, nil, nil)
        (trail, newCookies) = ([], [])
    }

    /// Forgets the tokens for requests, because a login invalidates earlier ones.
    func forgetRequestToken() {
        requestToken = nil
    }

    /// Replaces the cookies with an earlier state of the jar.
    func restore(_ jar: Jar) {
        self.jar = jar
    }

    // MARK: Pages

    /// Gets a page, and follows its redirects within the origins that settings name.
    ///
    /// - Parameter token: a token to look for; if JSON holds it, the page is requested as JSON.
    func visit(_ url: PageURL, for token: CSRFToken? = nil) async throws(SchemeError) -> Answer {
        let answer = try await walk(from: url, wantsJSON: token.map { $0.source == .json } ?? false)
        guard let next = answer.location else { return answer }
        guard isOfSite(next) else { throw .elsewhere("the page", next.origin) }
        throw .unavailable("the page \(url.origin + url.path) redirects too often")
    }

    /// Requests the address that only a logged-in user may see. If the settings have signs, they apply to its own response. Without
    /// signs, the page it redirects to is used.
    func probe(_ url: PageURL) async throws(SchemeError) -> Answer {
        try await walk(from: url, mostRedirects: site.probeSuccess.isEmpty ? Self.mostRedirects : 0)
    }

    /// Visits the target of a redirect.
    ///
    /// - Returns: nil if the response isn't a redirect, or leads to another origin.
    func follow(_ answer: Answer) async throws(SchemeError) -> Answer? {
        guard let next = answer.location, isOfSite(next) else { return nil }
        return try await walk(from: next)
    }

    /// Gets a page, and follows its redirects.
    ///
    /// - Returns: the last response. It is a redirect if it leads to another origin, or if there are too many redirects.
    private func walk(
        from url: PageURL, wantsJSON: Bool = false, mostRedirects: Int = mostRedirects
    ) async throws(SchemeError) -> Answer {
        let headers = wantsJSON ? [(name: "Accept", value: "application/json")] : []
        var answer = try await exchange(FlowRequest("GET", url.text, headers: headers), isForm: false)
        trail = [answer]
        while trail.count <= mostRedirects, let next = answer.location, isOfSite(next) {
            answer = try await exchange(FlowRequest("GET", next.text, headers: headers), isForm: false)
            trail.append(answer)
        }
        page = answer.url
        return answer
    }

    private func isOfSite(_ url: PageURL) -> Bool { site.origins.contains { $0.equals(url.origin) } }

    // MARK: Forms

    /// Sends fields with the login's CSRF token.
    func submit(_ fields: Fields, to url: PageURL) async throws(SchemeError) -> Answer {
        readLoginToken(from: nil, for: url)
        let issued = loginToken.flatMap { $0.origin.equals(url.origin) ? $0.value : nil }
        return try await submit(fields, "POST", to: url, site.loginToken, issued)
    }

    /// Sends fields with the CSRF token of the session's requests.
    func submitInSession(_ fields: Fields, _ method: String, to url: PageURL) async throws(SchemeError) -> Answer {
        let cookies = jar.sent(to: url, at: flow.unixSeconds)
        let issued = requestToken.flatMap { $0.origin.equals(url.origin) ? $0.value : nil }
        return try await submit(fields, method, to: url, site.requestToken, site.requestToken?.read(from: nil, cookies) ?? issued)
    }

    private func submit(
        _ fields: Fields, _ method: String, to url: PageURL, _ token: CSRFToken?, _ value: String?
    ) async throws(SchemeError) -> Answer {
        var fields = fields
        var headers: [(name: String, value: String)] = []
        if scheme.format == .json { headers.append(("Accept", "application/json")) }
        let isSafe = method.equals("GET") || method.equals("HEAD")
        if !isSafe, page != nil || token != nil {
            let source = page ?? site.loginPage
            headers.append(("Origin", source.origin))
            // Neither the token nor the page's URL may reach another origin.
            if source.origin.equals(url.origin) {
                headers.append(("Referer", source.text))
                if let token, let value {
                    if let header = token.header { headers.append((header, value)) }
                    if let field = token.field { fields.set(field, .string(value)) }
                }
            }
        }
        let query = isSafe ? String(revealing: fields.form.encoded) : ""
        let mark = url.target.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        var request = FlowRequest(method, query.isEmpty ? url.text : url.text + mark + query, headers: headers)
        if !isSafe {
            request =
                scheme.format == .form
                ? .post(url.text, form: fields.form, headers: headers) : .post(url.text, json: fields.json, headers: headers)
            request.method = method
        }
        return try await exchange(request, isForm: true)
    }

    // MARK: Exchanges

    /// Sends a request with its cookies, and stores the response's cookies. Doesn't follow redirects, because each response may set
    /// cookies.
    private func exchange(_ request: FlowRequest, isForm: Bool) async throws(SchemeError) -> Answer {
        var request = request
        request.followsRedirects = false
        guard let url = PageURL(request.url) else { throw .internal("the plugin made an invalid URL") }
        let sent = jar.sent(to: url, at: flow.unixSeconds)
        let cookies = sent.map { "\($0.name)=\(String(revealing: $0.value))" }
        let isLoginOrigin = url.origin.equals(site.loginPage.origin)
        if site.sendsHeaders(to: url, with: sent) {
            for line in site.headers { request.setHeader(line.name, line.value) }
        }
        if isLoginOrigin, isLogin {
            for line in site.loginHeaders { request.setHeader(line.name, line.value) }
        }
        if !cookies.isEmpty { request.headers.append(("Cookie", cookies.joined(separator: "; "))) }
        let response = try await flow.send(request)
        let before = jar
        let stored = jar.store(response.headers(named: "Set-Cookie"), from: url, at: flow.unixSeconds, scheme.publicSuffixes)
        if isForm {
            for cookie in stored where site.loginToken?.isCookie(cookie.name) != true && before.changes(with: cookie) {
                if !newCookies.contains(where: { $0.equals(cookie.name) }) { newCookies.append(cookie.name) }
            }
        }
        newCookies.removeAll { name in !jar.cookies.contains { $0.name.equals(name) } }
        let answer = Answer(
            status: response.status, url: url, headers: response.headers, body: response.body, newCookies: newCookies,
            deletedCookies: before.deleted(in: jar))
        readLoginToken(from: answer, for: url)
        if let token = site.requestToken, let value = token.read(from: answer, []) {
            requestToken = IssuedCSRF(value: value, origin: url.origin)
        }
        return answer
    }

    /// Reads the login's CSRF token from a response, or from a cookie. Many frameworks issue a new token with each response.
    ///
    /// - Parameter url: the URL that the token will be sent to.
    private func readLoginToken(from answer: Answer?, for url: PageURL) {
        guard let token = site.loginToken else { return }
        let target = url.origin.equals(site.loginPage.origin) ? site.loginPage : url
        guard let value = token.read(from: answer, jar.sent(to: target, at: flow.unixSeconds)) else { return }
        loginToken = IssuedCSRF(value: value, origin: url.origin)
    }
}

extension FlowRequest {
    /// Replaces all lines with that name.
    fileprivate mutating func setHeader(_ name: String, _ value: String) {
        headers.removeAll { $0.name.equalsIgnoringCase(name) }
        headers.append((name, value))
    }
}

extension Jar {
    /// Whether a cookie is new, or has a new value.
    fileprivate func changes(with cookie: JarCookie) -> Bool {
        !cookies.contains { cookie.replaces($0) && $0.value == cookie.value }
    }

    /// The names of the cookies that are in this jar but not in the next one.
    func deleted(in next: Jar) -> [String] {
        cookies.map { $0.name }.filter { name in !next.cookies.contains { $0.name.equals(name) } }
    }
}

extension SchemeError {
    static func elsewhere(_ subject: String, _ origin: String) -> SchemeError {
        .unavailable("\(subject) redirected to another origin, \(origin); nothing was sent there")
    }
}

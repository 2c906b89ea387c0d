public import NevodPluginKit
internal import NevodSupport

/// A session with cookies: logs in with a form or JSON, as a browser or a script of the site would, and puts the cookies on
/// requests as RFC 6265 defines.
struct CookieAuth: FlowScheme, LogoutFlow {
    typealias Token = Jar

    static let id = "cookie"
    static let title = "Session cookie"

    enum Format: String, CaseIterable, SettingValue {
        case form, json
    }

    enum LogoutMethod: String, CaseIterable, SettingValue {
        case post = "POST"
        case get = "GET"
    }

    @Setting("login", help: "Where user name and password are sent to") var login: ServerURL
    @Setting("username", help: "User name; asked for when it is missing") var username: String?
    @Setting("password", help: "Password; asked for when it is missing") var password: Secret?
    @Setting("format", default: .form, help: "How they are sent") var format: Format
    @Setting("username-field", default: "username", help: "Field of the user name") var usernameField: String
    @Setting("password-field", default: "password", help: "Field of the password") var passwordField: String
    @Setting("field", help: "Another field of the login, NAME=VALUE") var fields: [String]

    @Setting("csrf", default: CSRFSource.none, help: "Where the page holds its CSRF token") var csrf: CSRFSource
    @Setting("page", help: "Page with the CSRF token, if it is not the login's address") var page: ServerURL?
    @Setting("csrf-name", help: "Name of the cookie, header or input with the token, if it is not Django's") var csrfName: String?
    @Setting("csrf-header", help: "Header in which the token is sent back") var csrfHeader: String?
    @Setting("csrf-field", help: "Field in which the token is sent back") var csrfField: String?

    @Setting("session-cookie", help: "Cookie that a login must set; its expiry is the session's")
    var sessionCookie: String?
    @Setting("success-status", help: "Status of a login that succeeds; without it, any 2xx or 3xx")
    var successStatuses: [Int]

    @Setting("mfa", help: "Where a one-time code is sent to") var mfa: ServerURL?
    @Setting("mfa-when", default: "code=MFA_REQUIRED", help: "JSON member of a response that asks for a code, NAME=VALUE")
    var mfaWhen: String
    @Setting("mfa-status", help: "Status of a response that asks for a code") var mfaStatus: Int?
    @Setting("mfa-expired", default: "code=MFA_EXPIRED", help: "JSON member of a response that takes no more codes, NAME=VALUE")
    var mfaExpired: String
    @Setting("mfa-code", default: "code", help: "Field of the code") var mfaCode: String
    @Setting("mfa-session", default: "sessionId", help: "JSON member that goes back with the code") var mfaSession: String

    @Setting("logout", help: "Where to log out") var logoutURL: ServerURL?
    @Setting("logout-method", default: .post, help: "How") var logoutMethod: LogoutMethod

    let publicSuffixes = PublicSuffixes()

    // Derived in prepare.
    private(set) var extraFields: [(name: String, value: String)] = []
    private(set) var loginPage = PageURL(scheme: "", authority: "", target: "/")
    private(set) var token: CSRFToken?
    private(set) var secondFactor: MultiFactor?

    /// Redirects to the login page, which are its challenges, and responses that set cookies.
    var needs: Needs { [.challenges, .otherResponses] }
    var challengeStatuses: [Int] { Self.redirects }
    private static let redirects = [301, 302, 303, 307, 308]

    mutating func prepare() throws(SchemeError) {
        loginPage = try Self.address(login, "login")
        for (name, url) in [("page", page), ("mfa", mfa), ("logout", logoutURL)] {
            if let url { _ = try Self.address(url, name) }
        }
        guard !usernameField.isEmpty else { throw .badSetting("username-field", "must not be empty") }
        guard !passwordField.isEmpty, passwordField != usernameField else {
            throw .badSetting("password-field", "must not be empty, nor the user name's")
        }
        if let password, password.isEmpty { throw .badSetting("password", "must not be empty; without it, it is asked for") }
        for field in fields {
            guard let (name, value) = field.splitAtEquals else { throw .badSetting("field", "must be NAME=VALUE") }
            extraFields.append((name, value))
        }
        if let sessionCookie, sessionCookie.isEmpty || sessionCookie.utf8.contains(where: { "=; ".utf8.contains($0) }) {
            throw .badSetting("session-cookie", "must be the name of a cookie")
        }
        guard successStatuses.allSatisfy((200...499).contains) else {
            throw .badSetting("success-status", "must be a number from 200 to 499")
        }
        token = try CSRFToken(csrf, name: csrfName, header: csrfHeader, field: csrfField)
        if csrf == .none, page != nil { throw .badSetting("page", "is read only for a CSRF token; set csrf as well") }
        if let mfa {
            secondFactor = try MultiFactor(
                url: mfa.text, when: mfaWhen, status: mfaStatus, expired: mfaExpired, codeField: mfaCode, session: mfaSession)
        }
    }

    /// Requires the ASCII form of an international name, because redirects and cookies are compared with it.
    private static func address(_ url: ServerURL, _ setting: String) throws(SchemeError) -> PageURL {
        guard let page = PageURL(url.text), page.host.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw .badSetting(setting, "must have an international name in its ASCII form, xn--…")
        }
        return page
    }

    func login(_ flow: AuthFlow) async throws(SchemeError) -> IssuedToken {
        var login = Login(of: self, flow)
        return try await login.run()
    }

    func logout(_ flow: AuthFlow, _ jar: Jar) async throws(SchemeError) {
        guard let logoutURL else { return }
        var login = Login(of: self, flow, jar)
        try await login.logout(at: logoutURL.text, logoutMethod.rawValue)
    }

    func authorize(_ request: borrowing RequestView, _ jar: Jar, _ edits: Edits) {
        for cookie in jar.sent(to: PageURL(of: request), at: request.unixSeconds) { edits.addCookie(cookie.name, cookie.value) }
    }

    func respond(
        to response: borrowing ResponseView, _ request: borrowing RequestView, _ jar: Jar?, _ edits: ResponseEdits
    ) -> Verdict {
        // The host logs in again by itself, and cookies in such a response end the session.
        guard response.status != 401 else { return .nothing }
        let url = PageURL(of: request)
        // A host that gets none of the session's cookies neither ends nor changes the session.
        guard let jar, jar.reaches(url.host) else { return .nothing }
        if leadsToLogin(response, from: url) { return .challenge }
        let lines = response.headers(named: "Set-Cookie")
        if !lines.isEmpty {
            var new = jar
            new.store(lines, from: url, at: request.unixSeconds, publicSuffixes)
            // If the response deletes the last cookie, the old session stays: the server's next refusal leads to a login.
            if new.reaches(url.host), new.isWorthKeeping(insteadOf: jar, at: request.unixSeconds) { edits.keep(issued(new)) }
        }
        return .nothing
    }

    /// Whether the response redirects a request for another page to the login.
    private func leadsToLogin(_ response: borrowing ResponseView, from url: PageURL) -> Bool {
        guard Self.redirects.contains(response.status), let location = response.header("Location"),
            let next = url.resolving(location)
        else { return false }
        return isLoginPage(next) && !isLoginPage(url) && url.path != logoutURL.flatMap { PageURL($0.text)?.path }
    }

    /// Whether the URL is the login's, or that of the page with its form.
    func isLoginPage(_ url: PageURL) -> Bool {
        [loginPage, page.flatMap { PageURL($0.text) }].contains { $0?.origin == url.origin && $0?.path == url.path }
    }

    func issued(_ jar: Jar, account: String = "") -> IssuedToken {
        IssuedToken(jar.encoded, expiresAt: sessionCookie.flatMap { jar.cookie(named: $0)?.expires }, account: account)
    }
}

extension String {
    /// The texts before and after the first equals sign; nil without one, or without a name.
    var splitAtEquals: (name: String, value: String)? {
        guard let equals = utf8.firstIndex(of: UInt8(ascii: "=")), equals > startIndex else { return nil }
        return (String(self[..<equals]), String(self[utf8.index(after: equals)...]))
    }
}

private let plugin = PluginExport(CookieAuth.self, name: "CookieAuth", version: "0.2.0", vendor: "NevodHost")
// The contract names it.
// swift-format-ignore: AlwaysUseLowerCamelCase
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }

public import NevodPluginKit
internal import NevodSupport

/// A session with cookies: logs in with a form or JSON, as a browser or a script of the site would, and puts the cookies on
/// requests as RFC 6265 defines.
struct CookieAuth: LogoutFlow, ChallengeFlow {
    typealias Token = Session

    static let id = "cookie"
    static let title = "Session cookie"

    enum Format: String, CaseIterable, SettingValue {
        case form, json
    }

    @Setting("site", help: "The application's address, which relative addresses start from") var siteURL: ServerURL?
    @Setting("login", help: "Address that user name and password are sent to") var login: RelativeURL
    @Setting("username", help: "User name; asked for when it is missing") var username: String?
    @Setting("password", help: "Password; asked for when it is missing") var password: Secret?
    @Setting("format", default: .form, help: "How user name and password are sent") var format: Format
    @Setting("username-field", default: "username", help: "Field of the user name; empty if the site has none")
    var usernameField: String
    @Setting("password-field", default: "password", help: "Field of the password") var passwordField: String
    @Setting("field", help: "Another field of the login, NAME=VALUE") var fields: [String]
    @Setting("header", help: "A header line of the login and of all requests, NAME: VALUE") var headers: [String]
    @Setting("login-header", help: "A header line of the login only, NAME: VALUE") var loginHeaders: [String]
    @Setting("page", help: "Page with the login's form or CSRF token, fetched before the login") var page: RelativeURL?

    @Setting("csrf", default: CSRFSource.none, help: "Where the page holds its CSRF token") var csrf: CSRFSource
    @Setting(
        "csrf-name", help: "Name of the token's cookie, header, input, meta element or JSON member; or the text BEFORE*AFTER")
    var csrfName: String?
    @Setting("csrf-header", help: "Header in which the login sends the token back") var csrfHeader: String?
    @Setting("csrf-field", help: "Field in which the login sends the token back") var csrfField: String?
    @Setting("request-csrf", default: .asLogin, help: "Where the CSRF token for later unsafe requests is")
    var requestCSRF: RequestCSRFSource
    @Setting("request-csrf-page", help: "Address with that token") var requestCSRFPage: RelativeURL?
    @Setting("request-csrf-name", help: "Name of that token, as in csrf-name") var requestCSRFName: String?
    @Setting("request-csrf-header", help: "Header in which requests send it back") var requestCSRFHeader: String?
    @Setting("request-csrf-field", help: "Field in which requests with a form send it back") var requestCSRFField: String?
    @Setting("csrf-stale", help: "Sign that the token is no longer valid") var csrfStale: [String]

    @Setting("session-cookie", help: "Cookie that a login must set; its expiry is the session's") var sessionCookie: String?
    @Setting("success", help: "Sign of a login that succeeds") var success: [String]
    @Setting("failure", help: "Sign of a login that is refused") var failure: [String]
    @Setting("probe", help: "Address that only a logged-in user may see") var probe: RelativeURL?
    @Setting("probe-success", help: "Sign that the probe's response is for a logged-in user") var probeSuccess: [String]
    @Setting("expired", help: "Sign that the session has ended, besides the usual ones") var expired: [String]

    @Setting("mfa", help: "Address that a one-time code is sent to, if its form has another") var mfa: RelativeURL?
    @Setting("mfa-page", help: "Page with the form for the code") var mfaPage: RelativeURL?
    @Setting("mfa-when", help: "Sign of a response that asks for a code") var mfaWhen: [String]
    @Setting("mfa-expired", help: "Sign of a response that takes no more codes") var mfaExpired: [String]
    @Setting("mfa-code", default: "code", help: "Field of the code") var mfaCode: String
    @Setting("mfa-session", default: "sessionId", help: "JSON member that goes back with the code") var mfaSession: String
    @Setting("mfa-field", help: "Another field that is sent with the code, NAME=VALUE") var mfaFields: [String]
    @Setting("totp", help: "Secret of an authenticator: Base32, or otpauth://…; if missing, codes are asked for")
    var totp: Secret?

    @Setting("logout", help: "Where to log out") var logoutURL: RelativeURL?
    @Setting("logout-method", default: "POST", help: "HTTP method of the logout") var logoutMethod: String
    @Setting("logout-page", help: "Page with the form or CSRF token of the logout") var logoutPage: RelativeURL?
    @Setting("logout-field", help: "A field of the logout, NAME=VALUE") var logoutFields: [String]
    @Setting("logout-success", help: "Sign of a logout that succeeds") var logoutSuccess: [String]

    let publicSuffixes = PublicSuffixes()
    /// The site that `prepare` derives from the settings.
    private(set) var site = Site()

    var needs: Needs {
        var needs: Needs = [.challenges, .otherResponses, .challengeBody]
        if site.requestToken != nil { needs.formUnion([.headers, .state]) }
        if site.requestToken?.field != nil { needs.formUnion([.body, .bodyReplacement]) }
        return needs
    }
    var challengeStatuses: [Int] { site.challengeStatuses }
    var challengeTypes: [String] { site.challengeTypes }

    mutating func prepare() throws(SchemeError) {
        site = try Site(self)
    }

    func login(_ flow: AuthFlow) async throws(SchemeError) -> IssuedToken {
        try await Login(Browser(of: self, flow)).run()
    }

    func logout(_ flow: AuthFlow, _ session: Session) async throws(SchemeError) {
        guard let logoutURL else { return }
        try await Logout(Browser(of: self, flow, session)).run(at: logoutURL.text)
    }

    func issued(_ session: Session, account: String = "") -> IssuedToken {
        IssuedToken(session.encoded, expiresAt: site.sessionCookie(of: session.jar)?.expiry, account: account)
    }
}

extension CookieAuth {
    func authorize(_ request: borrowing RequestView, _ session: Session, _ edits: Edits) throws(SchemeError) {
        if site.hasEnded(session.jar) { throw .badToken("the server has deleted the session's cookie") }
        let url = PageURL(of: request)
        let cookies = session.jar.sent(to: url, at: request.unixSeconds)
        for cookie in cookies { edits.addCookie(cookie.name, cookie.value) }
        // An address that gets no cookies of the session isn't part of the site.
        guard !cookies.isEmpty else { return }
        let headers = site.sendsHeaders(to: url, with: cookies) ? site.headers : []
        for (name, value) in headers { edits.setHeader(name, value) }
        if let token = site.requestToken, !request.isSafe {
            prove(request, at: url, headers, token, value(of: token, for: url, request, session, cookies), edits)
        }
    }
}

private let plugin = PluginExport(CookieAuth.self, name: "CookieAuth", version: "0.3.0", vendor: "NevodHost")
// The contract defines this name.
// swift-format-ignore: AlwaysUseLowerCamelCase
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }

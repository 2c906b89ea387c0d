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

    @Setting("site", help: "The application's address, which relative addresses go on from") var siteURL: ServerURL?
    @Setting("login", help: "Where user name and password are sent to") var login: RelativeURL
    @Setting("username", help: "User name; asked for when it is missing") var username: String?
    @Setting("password", help: "Password; asked for when it is missing") var password: Secret?
    @Setting("format", default: .form, help: "How they are sent") var format: Format
    @Setting("username-field", default: "username", help: "Field of the user name; empty if the site knows none")
    var usernameField: String
    @Setting("password-field", default: "password", help: "Field of the password") var passwordField: String
    @Setting("field", help: "Another field of the login, NAME=VALUE") var fields: [String]
    @Setting("header", help: "A header line of the login and of all requests, NAME: VALUE") var headers: [String]
    @Setting("login-header", help: "A header line of the login alone, NAME: VALUE") var loginHeaders: [String]
    @Setting("page", help: "Page with the login's form or CSRF token, fetched before the login") var page: RelativeURL?

    @Setting("csrf", default: CSRFSource.none, help: "Where the page holds its CSRF token") var csrf: CSRFSource
    @Setting(
        "csrf-name", help: "Name of the token's cookie, header, input, meta element or JSON member; or the text BEFORE*AFTER")
    var csrfName: String?
    @Setting("csrf-header", help: "Header in which the login sends the token back") var csrfHeader: String?
    @Setting("csrf-field", help: "Field in which the login sends the token back") var csrfField: String?
    @Setting("request-csrf", default: .asLogin, help: "Where the token for later requests that change something is")
    var requestCSRF: RequestCSRFSource
    @Setting("request-csrf-page", help: "Address with that token") var requestCSRFPage: RelativeURL?
    @Setting("request-csrf-name", help: "Its name, as csrf-name") var requestCSRFName: String?
    @Setting("request-csrf-header", help: "Header in which requests send it back") var requestCSRFHeader: String?
    @Setting("request-csrf-field", help: "Field in which requests with a form send it back") var requestCSRFField: String?
    @Setting("csrf-stale", help: "Sign that the token is no longer valid") var csrfStale: [String]

    @Setting("session-cookie", help: "Cookie that a login must set; its expiry is the session's") var sessionCookie: String?
    @Setting("success", help: "Sign of a login that succeeds") var success: [String]
    @Setting("failure", help: "Sign of a login that is refused") var failure: [String]
    @Setting("probe", help: "Address that only a logged-in user may see") var probe: RelativeURL?
    @Setting("probe-success", help: "Sign that the probe's response is for a logged-in user") var probeSuccess: [String]
    @Setting("expired", help: "Sign that the session has ended, beside those that hold for all sites") var expired: [String]

    @Setting("mfa", help: "Where a one-time code is sent to, if it is not the address of its form") var mfa: RelativeURL?
    @Setting("mfa-page", help: "Page with the form for the code") var mfaPage: RelativeURL?
    @Setting("mfa-when", help: "Sign of a response that asks for a code") var mfaWhen: [String]
    @Setting("mfa-expired", help: "Sign of a response that takes no more codes") var mfaExpired: [String]
    @Setting("mfa-code", default: "code", help: "Field of the code") var mfaCode: String
    @Setting("mfa-session", default: "sessionId", help: "JSON member that goes back with the code") var mfaSession: String
    @Setting("mfa-field", help: "Another field that is sent with the code, NAME=VALUE") var mfaFields: [String]
    @Setting("totp", help: "Secret of an authenticator: Base32, or otpauth://…; without it, codes are asked for")
    var totp: Secret?

    @Setting("logout", help: "Where to log out") var logoutURL: RelativeURL?
    @Setting("logout-method", default: "POST", help: "How") var logoutMethod: String
    @Setting("logout-page", help: "Page with the form or CSRF token of the logout") var logoutPage: RelativeURL?
    @Setting("logout-field", help: "A field of the logout, NAME=VALUE") var logoutFields: [String]
    @Setting("logout-success", help: "Sign of a logout that succeeds") var logoutSuccess: [String]

    let publicSuffixes = PublicSuffixes()
    /// The rest, as `prepare` derives it from the settings.
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
        var login = Login(Browser(of: self, flow))
        return try await login.run()
    }

    func logout(_ flow: AuthFlow, _ session: Session) async throws(SchemeError) {
        guard let logoutURL else { return }
        var logout = Logout(Browser(of: self, flow, session))
        try await logout.run(at: logoutURL.text)
    }

    func issued(_ session: Session, account: String = "") -> IssuedToken {
        IssuedToken(session.encoded, expiresAt: site.sessionCookie(of: session.jar)?.expires, account: account)
    }
}

private let plugin = PluginExport(CookieAuth.self, name: "CookieAuth", version: "0.3.0", vendor: "NevodHost")
// The contract names it.
// swift-format-ignore: AlwaysUseLowerCamelCase
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }

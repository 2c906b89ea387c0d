internal import NevodPluginKit
internal import NevodSupport

/// The meaning of a server's response to a login or to a code.
enum LoginResult {
    case loggedIn
    case codeRequired(JSONValue?)
    /// The server accepts no more codes for this login.
    case codeExpired
    /// The user name, the password or the code is wrong; the reason in words.
    case refused(String)
}

extension LoginResult {
    /// Reads a response.
    ///
    /// - Parameters:
    ///   - url: the URL of the response.
    ///   - isCode: whether the request sent a code, which can be too late.
    ///   - newCookies: the names of the cookies that this login has set and the jar still holds.
    /// - Throws: ``SchemeError/unavailable(_:)``, which keeps the token, for a response that is neither a login nor a refusal.
    init(
        _ response: FlowResponse, from url: PageURL, toCode isCode: Bool, newCookies: Set<String>, _ scheme: CookieAuth
    ) throws(SchemeError) {
        let json = try response.declaredJSON()
        if let secondFactor = scheme.secondFactor {
            if isCode, secondFactor.isExpired(response, json) {
                self = .codeExpired
                return
            }
            if secondFactor.asksForCode(response, json) {
                self = .codeRequired(json)
                return
            }
        }
        let status = response.status
        switch status {
        case 300..<400: try Self.check(redirect: response, from: url)
        case 404, 405, 408, 410, 429, 500...: throw .unavailable("the server can't log in users now (status \(status))")
        default: break
        }
        if status / 100 == 3, let next = response.header("Location").flatMap(url.resolving), scheme.isLoginPage(next) {
            self = .refused("the server led back to the login page")
        } else if status / 100 == 2, response.isPage, HTMLInputs(response.body).contains(named: scheme.passwordField) {
            self = .refused("the server showed the login page again")
        } else if scheme.successStatuses.isEmpty ? status < 400 : scheme.successStatuses.contains(status) {
            try Self.check(success: response, newCookies, scheme)
            self = .loggedIn
        } else {
            let hint = status == 403 && scheme.token == nil ? "; it may want a CSRF token, see the setting csrf" : ""
            self = .refused("the server refused (status \(status)\(hint))")
        }
    }

    private static func check(redirect response: FlowResponse, from url: PageURL) throws(SchemeError) {
        guard let location = response.header("Location"), let next = url.resolving(location) else {
            throw .unavailable("the server redirected the login without a valid address (status \(response.status))")
        }
        guard next.origin == url.origin else { throw .elsewhere(next.origin) }
        guard response.status < 307 else {
            throw .unavailable("the login has moved to \(next.origin + next.path) (status \(response.status)); set login to that")
        }
    }

    /// Checks that a success has cookies and isn't the error page of a server in trouble.
    private static func check(
        success response: FlowResponse, _ newCookies: Set<String>, _ scheme: CookieAuth
    ) throws(SchemeError) {
        let status = response.status
        if scheme.format == .json, status / 100 == 2, response.isPage {
            throw .unavailable("the server responded with a page instead of JSON (status \(status))")
        }
        if let name = scheme.sessionCookie {
            guard newCookies.contains(name) else {
                throw .unavailable("the server set no valid cookie \(name) (status \(status))")
            }
        } else if newCookies.isEmpty {
            throw .unavailable("the server set no valid cookie (status \(status))")
        }
    }
}

extension SchemeError {
    static func elsewhere(_ origin: String) -> SchemeError {
        .unavailable("the server redirected the login to another origin, \(origin); nothing was sent there")
    }
}

extension FlowResponse {
    fileprivate var isPage: Bool { isOf("html") }

    private func isOf(_ type: String) -> Bool {
        let declared = header("Content-Type")?.utf8.prefix { $0 != UInt8(ascii: ";") }
        return declared.map { String(Substring($0)).lowercased().hasSuffix(type) } ?? false
    }

    /// The body as JSON; nil if it is empty, or its Content-Type isn't JSON.
    fileprivate func declaredJSON() throws(SchemeError) -> JSONValue? {
        isOf("json") && !body.isEmpty ? try json() : nil
    }
}

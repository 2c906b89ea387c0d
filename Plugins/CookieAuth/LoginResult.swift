internal import NevodPluginKit
internal import NevodSupport

/// What a server means by its answer to a login, or to a code.
enum LoginResult {
    case loggedIn
    case codeRequired(JSONValue?)
    /// Nobody can give a code any more.
    case codeExpired
    /// The user name, the password or the code is wrong. In words.
    case refused(String)
}

extension LoginResult {
    /// - Parameters:
    ///   - url: that the answer came from.
    ///   - isCode: whether it answers a code, which can come too late.
    ///   - newCookies: that this login's answers have set, and the jar still holds.
    /// - Throws: where the answer is neither a login nor a refusal: ``SchemeError/unavailable(_:)``, which keeps the token.
    init(
        _ response: FlowResponse, from url: PageURL, toCode isCode: Bool, newCookies: Set<String>, _ scheme: CookieAuth
    ) throws(SchemeError) {
        let answer = try response.jsonIfSaid()
        if let secondFactor = scheme.secondFactor {
            if isCode, secondFactor.isExpired(response, answer) {
                self = .codeExpired
                return
            }
            if secondFactor.asksForCode(response, answer) {
                self = .codeRequired(answer)
                return
            }
        }
        let status = response.status
        switch status {
        case 300..<400: try Self.check(redirect: response, from: url)
        case 404, 405, 408, 410, 429, 500...: throw .unavailable("the server can't log anybody in now (status \(status))")
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
            throw .unavailable("the server redirected the login to no address that can be read (status \(response.status))")
        }
        guard next.origin == url.origin else { throw .elsewhere(next.origin) }
        guard response.status < 307 else {
            throw .unavailable("the login has moved to \(next.origin + next.path) (status \(response.status)); set login to that")
        }
    }

    /// A server in trouble answers with pages, too.
    private static func check(
        success response: FlowResponse, _ newCookies: Set<String>, _ scheme: CookieAuth
    ) throws(SchemeError) {
        let status = response.status
        if scheme.format == .json, status / 100 == 2, response.isPage {
            throw .unavailable("the server answered with a page, and not with JSON (status \(status))")
        }
        if let name = scheme.sessionCookie {
            guard newCookies.contains(name) else {
                throw .unavailable("the server set no cookie \(name) that it may set (status \(status))")
            }
        } else if newCookies.isEmpty {
            throw .unavailable("the server set no cookie that it may set (status \(status))")
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
        let said = header("Content-Type")?.utf8.prefix { $0 != UInt8(ascii: ";") }
        return said.map { String(Substring($0)).lowercased().hasSuffix(type) } ?? false
    }

    /// Nil where the answer doesn't say that it is JSON, or is empty.
    fileprivate func jsonIfSaid() throws(SchemeError) -> JSONValue? {
        isOf("json") && !body.isEmpty ? try json() : nil
    }
}

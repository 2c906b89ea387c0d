internal import NevodPluginKit
internal import NevodSupport

/// The meaning of a server's response to a login or to a code.
enum LoginResult {
    /// A sign of success holds.
    case loggedIn
    /// The settings name no sign of success: the cookies and the last page decide.
    case open
    case codeRequired(Answer)
    /// The server accepts no more codes for this login.
    case codeExpired
    /// The user name, the password or the code is wrong; the reason in words.
    case refused(String)
}

extension LoginResult {
    /// Reads a response.
    ///
    /// - Parameter isCode: whether the request sent a code. A code can arrive too late.
    /// - Throws: ``SchemeError/unavailable(_:)``, which keeps the token, for a response that shows neither a login nor a refusal.
    init(_ answer: Answer, toCode isCode: Bool, _ site: Site) throws(SchemeError) {
        if site.failure.hold(in: answer) {
            self = .refused("the server refused (status \(answer.status))")
            return
        }
        if let secondFactor = site.secondFactor {
            if isCode, secondFactor.isExpired(answer) {
                self = .codeExpired
                return
            }
            if secondFactor.asksForCode(answer) {
                self = .codeRequired(answer)
                return
            }
        }
        if site.success.hold(in: answer) {
            self = .loggedIn
        } else if isCode, site.secondFactor?.hasForm(answer) == true {
            self = .codeRequired(answer)
        } else {
            try Self.check(answer, site)
            if let refusal = Self.refusal(in: answer, site) {
                self = .refused(refusal)
            } else {
                self = site.success.isEmpty ? .open : .refused("the response has no sign of success (status \(answer.status))")
            }
        }
    }

    /// Checks that the response isn't from a server in trouble, and that the login hasn't moved.
    private static func check(_ answer: Answer, _ site: Site) throws(SchemeError) {
        let status = answer.status
        switch status {
        case 404...406, 408, 410, 411, 413...415, 421, 425, 426, 428, 429, 431, 451, 500...:
            throw .unavailable("the server can't log in users now (status \(status))")
        case 400, 403, 419, 422:
            guard status == 419 || answer.speaksOfCSRF && !site.asksForPassword(answer) else { break }
            throw .unavailable(
                site.loginToken == nil
                    ? "the server wants a CSRF token (status \(status)); see the setting csrf"
                    : "the server refused the CSRF token of the login (status \(status))")
        case 300..<400:
            guard let next = answer.location else {
                throw .unavailable("the server redirected the login without a valid address (status \(status))")
            }
            guard site.origins.contains(where: { $0.equals(next.origin) }) else { throw .elsewhere("the server", next.origin) }
            guard status < 307 else {
                throw .unavailable("the login has moved to \(next.origin + next.path) (status \(status)); set login to that")
            }
        default: break
        }
        if let problem = answer.jsonProblem {
            throw .unavailable("the server's response (status \(status)) is not valid JSON: \(problem)")
        }
    }

    /// The reason, in words, why a response without an explicit sign is a refusal; nil if it isn't one.
    private static func refusal(in answer: Answer, _ site: Site) -> String? {
        if answer.status >= 400 {
            let hint = answer.status == 403 && site.loginToken == nil ? "; it may want a CSRF token: see the setting csrf" : ""
            return "the server refused (status \(answer.status)\(hint))"
        }
        if site.asksForPassword(answer) { return "the server showed the login page again" }
        if let json = answer.json, json.saysFailure { return "the server refused (status \(answer.status))" }
        return nil
    }
}

extension JSONValue {
    /// Whether a member that APIs commonly use says that the request failed, although the status doesn't.
    fileprivate var saysFailure: Bool {
        for name in ["success", "ok", "authenticated", "loggedIn"] where self[name] == .bool(false) { return true }
        for name in ["error", "errors"] {
            switch self[name] {
            case nil, .null, .bool(false), .string(""), .array([]), .object([]), .integer(0): break
            default: return true
            }
        }
        for name in ["status", "statusCode", "code"] {
            if case .integer(let status)? = self[name], [400, 401, 403, 422].contains(status) { return true }
        }
        guard let status = self["status"]?.string?.lowercasedASCII else { return false }
        return ["error", "fail", "failed", "failure", "unauthorized"].contains { $0.equals(status) }
    }
}

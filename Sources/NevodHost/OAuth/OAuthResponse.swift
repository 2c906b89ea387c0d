internal import NevodSupport

/// A response of an authorization server's endpoint: a result or an error (RFC 6749 §5).
struct OAuthResponse {
    let status: Int
    /// Nil if the body is neither a JSON object nor a form with `error` or `access_token`, or if it repeats a name: two readers
    /// of one response could each take another value.
    let json: JSONValue?
    private let retryAfter: Duration?
    private let origin: Origin
    private let purpose: String
    private let secrets: [String]

    /// - Parameters:
    ///   - origin: the server's, for errors.
    ///   - purpose: what was asked for, as in "the server refused PURPOSE".
    ///   - secrets: what the request held, and no error may show.
    init(_ response: HTTPResponse, _ body: [UInt8], from origin: Origin, to purpose: String, hiding secrets: [String]) {
        status = response.status
        json = Self.object(body)
        retryAfter = response.retryAfter(now: HostClock.system.now)
        self.origin = origin
        self.purpose = purpose
        self.secrets = secrets
    }

    private static func object(_ body: [UInt8]) -> JSONValue? {
        let content = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body[3...] : body[...]
        // Some servers send Latin-1 in the description of an error, where it does no harm.
        let text = Array(String(decoding: content, as: UTF8.self).utf8)
        if let json = try? JSONValue(response: text) {
            if case .object = json { return json }
            return nil
        }
        return form(text)
    }

    /// Some servers send a form, whatever the request's Accept says.
    private static func form(_ text: [UInt8]) -> JSONValue? {
        // A page, whose links may look like a form's fields, or faulty JSON.
        switch text.first(where: { $0 > 0x20 }) {
        case UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "["): return nil
        default: break
        }
        var members: [JSONValue.Member] = []
        var names: Set<String> = []
        for item in text.split(separator: UInt8(ascii: "&")) {
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            let value = item[name.endIndex...].dropFirst()
            let member = JSONValue.Member(decoded(name), .string(decoded(value)))
            guard names.insert(member.name).inserted else { return nil }
            members.append(member)
        }
        return names.contains("error") || names.contains("access_token") ? .object(members) : nil
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String {
        String(decoding: PercentEncoding.decoded(text), as: UTF8.self)
    }

    /// Whether the server said that there is nothing at this URL.
    var isMissing: Bool { status == 404 || status == 410 }

    private var serverCode: OAuthErrorCode? {
        json?["error"]?.string.flatMap { OAuthErrorCode(received: $0, hiding: secrets) }
    }

    /// Words of the response in parentheses, after a space; empty if they repeat a secret of the request, or one of these.
    func shown(_ words: String?, hiding more: [String] = []) -> String {
        ServerWords.shown(words, hiding: secrets + more)
    }

    /// The result.
    func result() throws(OAuthError) -> JSONValue {
        // Some servers send errors with status 200.
        guard (200...299).contains(status), let json, json["error"] == nil else { throw failure }
        return json
    }

    /// Accepts any success, whose body says nothing (RFC 7009 §2.2).
    func checkSuccess() throws(OAuthError) {
        guard (200...299).contains(status), json?["error"] == nil else { throw failure }
    }

    /// The error of a result that lacks something.
    func unusable(_ problem: String) -> OAuthError {
        OAuthError(.unavailable, "the response of \(origin) to \(purpose) \(problem)", status: status)
    }

    /// The error of a token that is valid, and of no use to this library.
    func unsupported(_ problem: String) -> OAuthError {
        OAuthError(.unsupportedToken, "the response of \(origin) to \(purpose) \(problem)", status: status)
    }

    /// The one classification of responses: a server that fails, or sends something that isn't OAuth's, has refused nothing.
    var failure: OAuthError {
        let code = serverCode
        let meaning = code?.meaning(status: status)
        let words = code.map { ": \($0)\(shown(json?["error_description"]?.string))" } ?? ""
        if status == 429 || status >= 500 || meaning == .outage {
            return OAuthError(
                .unavailable, "\(origin) can't serve \(purpose) now (status \(status))\(words); \(wait)", serverCode: code,
                status: status, retryAfter: retryAfter)
        }
        guard let code, let meaning else {
            return OAuthError(
                .unavailable, "the response of \(origin) to \(purpose) is not one of OAuth (status \(status)); \(hint)",
                status: status,
                retryAfter: retryAfter)
        }
        return OAuthError(
            .refused, "\(origin) refused \(purpose)\(words)\(Self.remedy(after: code, meaning))", serverCode: code,
            status: status,
            retryAfter: retryAfter)
    }

    private var wait: String {
        guard let retryAfter else { return "try again later" }
        return "try again in \(retryAfter.components.seconds) seconds"
    }

    private var hint: String {
        switch status {
        case 300...399: "redirects of such requests are not followed; check the endpoint's URL"
        case 401: "check the client's identifier and secret"
        case 404, 405, 410: "check the endpoint's URL"
        default: "try again later"
        }
    }

    private static func remedy(after code: OAuthErrorCode, _ meaning: OAuthErrorMeaning) -> String {
        switch meaning {
        case .client where code == .unauthorizedClient: "; let the server allow this client to use the grant"
        case .client: "; check the client's identifier and secret, and how they are sent"
        case .grantType: "; the server doesn't offer this grant"
        case .scope: "; ask for other scopes"
        case .target: "; ask for another resource or audience"
        case .redirectURI: "; register the redirect URI at the server"
        case .refusal: "; log in again"
        case .unfinished where code == .authorizationPending: "; the user has yet to enter the code"
        case .unknown where code == .unsupportedTokenType: "; the server doesn't revoke tokens of this kind"
        case .outage, .unfinished, .unknown: ""
        }
    }
}

extension OAuthToken {
    /// Reads the response of a token endpoint (RFC 6749 §5.1).
    ///
    /// - Parameter time: when the request was sent, from which on the lifetime counts at the earliest.
    init(_ response: OAuthResponse, sentAt time: UnixTime) throws(OAuthError) {
        let json = try response.result()
        do throws(OAuthTokenResponse.Problem) { self.init(try OAuthTokenResponse(json), at: time) } catch {
            switch error {
            case .noAccessToken: throw response.unusable("has no valid access_token; try again later")
            case .otherType:
                throw response.unsupported("has another token_type than Bearer, the only one that this library supports")
            }
        }
    }
}

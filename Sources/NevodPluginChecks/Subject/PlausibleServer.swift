internal import NevodPluginABI
internal import NevodPluginTesting

/// A person and a server that respond to a flow as if all were well, so that even an unknown login reaches its token if possible.
struct PlausibleServer {
    enum Style: CaseIterable {
        /// Tokens in JSON.
        case json
        /// A token, and a second token to renew it, each on a line.
        case text
        /// A page with a form, and a cookie.
        case form
        /// The same, with a redirect after the form.
        case redirect
    }

    static let password = "cnryPassw0rd7Wq2Zt"
    static let code = "cnry493021Code"
    /// 2027-01-15T08:00:00Z.
    static let now: Int64 = 1_800_000_000_000_000_000

    let style: Style
    /// Part of the tokens, to tell two logins apart.
    let label: String
    private var listened = ""
    private var postsForm = false
    private(set) var time = now

    init(_ style: Style, label: String = "A") {
        self.style = style
        self.label = label
    }

    var token: String { "cnryT0ken\(label)8xKq3VbN5mRd" }

    /// The host's event after an action; nil after `token`.
    mutating func event(after action: SinkCall) -> ContractEvent? {
        var event = made(after: action)
        event?.unixTime = time
        event?.random = Array(0..<32)
        return event
    }

    private mutating func made(after action: SinkCall) -> ContractEvent? {
        switch action {
        case .send(let request):
            return request.map { request in
                .response(
                    response(
                        to: request.url, isGet: request.method.elementsEqual("GET".utf8),
                        followsRedirects: request.followsRedirects != 0))
            }
        case .ask(let questions): return .answers(questions.map { ContractPair($0.name, Self.answer($0)) })
        case .show: return .shown
        case .listen(let options):
            listened = "http://127.0.0.1:49153\(String(decoding: options?.path ?? [], as: UTF8.self))"
            postsForm = (options?.flags ?? 0) & UInt32(NEVOD_LISTEN_FORM_POST) != 0
            return .listening(listened)
        case .browse(let url):
            let query = "code=\(token)&state=\(Self.parameter("state", of: url))"
            return postsForm ? .redirect(listened, body: Array(query.utf8)) : .redirect("\(listened)?\(query)")
        case .wait(let nanoseconds):
            time += Int64(clamping: min(nanoseconds, 3_600_000_000_000))
            return .timer
        case .keep: return .kept
        default: return nil
        }
    }

    private static func answer(_ question: ContractQuestion) -> [UInt8] {
        switch Int(question.kind) {
        case NEVOD_QUESTION_CHOICE: question.choices.first ?? []
        case NEVOD_QUESTION_CODE: Array(code.utf8)
        case NEVOD_QUESTION_SECRET: Array(password.utf8)
        default: Array("somebody".utf8)
        }
    }

    private static func parameter(_ name: String, of url: [UInt8]) -> String {
        let text = String(decoding: url, as: UTF8.self)
        for part in text.split(whereSeparator: { $0 == "?" || $0 == "&" }) where part.hasPrefix("\(name)=") {
            return String(part.dropFirst(name.count + 1))
        }
        return ""
    }

    func response(to address: [UInt8], isGet: Bool, followsRedirects: Bool = false) -> ContractResponse {
        let url = String(decoding: address, as: UTF8.self)
        var headers = [ContractPair("Date", "Fri, 15 Jan 2027 08:00:00 GMT"), ContractPair("Cache-Control", "no-store")]
        if let end = url.firstRange(of: "/.well-known/") {
            headers.append(ContractPair("Content-Type", "application/json"))
            let issuer = String(url[..<end.lowerBound])
            return ContractResponse(200, headers: headers, body: Array(metadata(issuer).utf8), url: address)
        }
        headers.append(ContractPair("Set-Cookie", "session=\(token); Path=/; HttpOnly"))
        if style == .json {
            headers.append(ContractPair("Content-Type", "application/json"))
            return ContractResponse(200, headers: headers, body: Array(json.utf8), url: address)
        }
        if style == .text {
            headers.append(ContractPair("Content-Type", "text/plain"))
            return ContractResponse(200, headers: headers, body: Array("\(token)\n\(token)R\n".utf8), url: address)
        }
        if style == .redirect, !isGet, !followsRedirects {
            headers.append(ContractPair("Location", "/"))
            return ContractResponse(302, headers: headers, url: address)
        }
        headers.append(ContractPair("Content-Type", "text/html; charset=utf-8"))
        return ContractResponse(200, headers: headers, body: Array((isGet ? Self.form : Self.page).utf8), url: address)
    }

    private var json: String {
        let names = [
            "access_token", "token", "id_token", "refresh_token", "session", "session_id", "sessionToken", "accessToken",
            "api_key",
            "key", "jwt", "csrf_token", "device_code",
        ]
        let tokens = names.map { "\"\($0)\":\"\(token)\"" }.joined(separator: ",")
        return """
            {\(tokens),"token_type":"Bearer","expires_in":3600,"scope":"read","user_code":"ABCD-EFGH",\
            "verification_uri":"\(SettingValues.server)/device","interval":5,"nonce":"abc123","status":"ok"}
            """
    }

    private func metadata(_ issuer: String) -> String {
        """
        {"issuer":"\(issuer)","authorization_endpoint":"\(issuer)/authorize","token_endpoint":"\(issuer)/token",\
        "device_authorization_endpoint":"\(issuer)/device","revocation_endpoint":"\(issuer)/revoke",\
        "response_types_supported":["code"],"code_challenge_methods_supported":["S256"]}
        """
    }

    private static let form = """
        <!DOCTYPE html><html><body><form method="post" action=""><input type="hidden" name="csrf" value="abc123">\
        <input name="username"><input type="password" name="password"><button>Log in</button></form></body></html>
        """
    private static let page = "<!DOCTYPE html><html><body><p>Welcome</p></body></html>"

    /// A response that asks for credentials, in the common schemes.
    static func challenge(_ status: Int32 = 401) -> ContractResponse {
        let name = status == 407 ? "Proxy-Authenticate" : "WWW-Authenticate"
        var response = ContractResponse(
            status,
            headers: [
                ContractPair("Date", "Fri, 15 Jan 2027 08:00:00 GMT"),
                ContractPair(name, #"Digest realm="a", qop="auth", algorithm=SHA-256, nonce="bm9uY2U0Nzg4", opaque="b3A""#),
                ContractPair(name, #"Bearer realm="a", error="invalid_token", nonce="bm9uY2U0Nzg4""#),
                ContractPair(name, #"Basic realm="a", charset="UTF-8""#),
                ContractPair("Content-Type", "text/plain"),
            ], url: Array("https://api.example.com/orders?a=1".utf8))
        if status == 407 { response.targetKind = Int32(NEVOD_TARGET_PROXY) }
        return response
    }
}

internal import NevodPluginKit
internal import NevodSupport

/// A login or logout: its requests, one after another, and the cookies that they set.
struct Login {
    private let scheme: CookieAuth
    private let flow: AuthFlow
    private var jar: Jar
    /// The page with the CSRF token, and the token.
    private var page: PageURL?
    private var csrf: String?
    /// The names of the cookies that responses to this login's POST requests set, not those of the page before.
    private var newCookies: Set<String> = []

    private static let mostRedirects = 5

    init(of scheme: CookieAuth, _ flow: AuthFlow, _ jar: Jar = Jar()) {
        self.scheme = scheme
        self.flow = flow
        self.jar = jar
    }

    mutating func run() async throws(SchemeError) -> IssuedToken {
        let (username, password) = try await credentials()
        var wrongCodes = 0
        for _ in 0..<2 {
            var result = try await begin(username, password)
            while case .codeRequired(let challenge) = result, let secondFactor = scheme.secondFactor {
                result = try await finish(challenge, with: secondFactor, &wrongCodes)
            }
            switch result {
            case .loggedIn: return scheme.issued(jar, account: username.asAccount)
            case .refused(let words): throw .denied("\(words): is the user name or the password wrong?")
            case .codeExpired, .codeRequired: break
            }
        }
        throw .unavailable(
            "the server's request for a one-time code expired twice; log in again, and enter the code sooner")
    }

    /// Asks for all missing credentials at once.
    private func credentials() async throws(SchemeError) -> (username: String, password: Secret) {
        var questions: [FlowQuestion] = []
        if scheme.username == nil { questions.append(.text("username", "User name")) }
        if scheme.password == nil { questions.append(.secret("password", "Password")) }
        let answers = questions.isEmpty ? [:] : try await flow.ask(questions)
        guard let username = scheme.username ?? answers["username"].map(String.init(revealing:)),
            let password = scheme.password ?? answers["password"]
        else { throw .internal("the host left a question without an answer") }
        return (username, password)
    }

    /// Starts the login without cookies.
    private mutating func begin(_ username: String, _ password: Secret) async throws(SchemeError) -> LoginResult {
        (jar, newCookies, csrf) = (Jar(), [], nil)
        try await openPage()
        var fields = LoginFields(scheme.extraFields.map { ($0.name, .string($0.value)) })
        fields.append(scheme.usernameField, .string(username))
        fields.append(scheme.passwordField, .secret(password))
        return try await post(fields, to: scheme.login.text, isCode: false)
    }

    private mutating func finish(
        _ challenge: JSONValue?, with secondFactor: MultiFactor, _ wrongCodes: inout Int
    ) async throws(SchemeError) -> LoginResult {
        let prompt = wrongCodes == 0 ? "One-time code" : "One-time code (the last one was refused)"
        let code = try await flow.ask(.code("code", prompt))
        var fields = LoginFields([])
        if let (name, value) = secondFactor.session(in: challenge) { fields.append(name, value) }
        fields.append(secondFactor.codeField, .secret(code))
        let result = try await post(fields, to: secondFactor.url, isCode: true)
        switch result {
        case .loggedIn, .codeExpired: return result
        case .codeRequired, .refused:
            wrongCodes += 1
            guard wrongCodes < MultiFactor.mostCodes else {
                throw .denied("the server refused \(wrongCodes) one-time codes")
            }
            // A server that asks again may have begun a new challenge.
            if case .codeRequired(let next) = result, secondFactor.session(in: next) != nil { return result }
            return .codeRequired(challenge)
        }
    }

    private mutating func post(_ fields: LoginFields, to url: String, isCode: Bool) async throws(SchemeError) -> LoginResult {
        let response = try await send(fields, "POST", to: url)
        guard let url = PageURL(response.url) else { throw .internal("the host gave a response without its URL") }
        return try LoginResult(
            response, from: url, toCode: isCode,
            newCookies: newCookies.filter { jar.cookie(named: $0) != nil }, scheme)
    }
}

extension Login {
    mutating func logout(at url: String, _ method: String) async throws(SchemeError) {
        if method == "POST" {
            readToken(from: nil, for: url)
            if csrf == nil { try await openPage() }
        }
        let response = try await send(LoginFields([]), method, to: url)
        guard response.status < 400 || response.status == 401 else {
            throw .unavailable("the server did not log out (status \(response.status))")
        }
    }

    /// Fetches the page with the CSRF token, if the login needs one.
    private mutating func openPage() async throws(SchemeError) {
        guard let token = scheme.token, var url = PageURL((scheme.page ?? scheme.login).text) else { return }
        for _ in 0...Self.mostRedirects {
            let response = try await exchange(FlowRequest("GET", url.text, headers: [("Accept", "text/html, */*")]))
            if [301, 302, 303, 307, 308].contains(response.status),
                let next = response.header("Location").flatMap({ url.resolving($0) })
            {
                guard next.origin == url.origin else { throw .elsewhere(next.origin) }
                url = next
                continue
            }
            page = url
            readToken(from: response, for: scheme.login.text)
            guard csrf != nil else {
                throw .unavailable(
                    "the page \(url.origin + url.path) has no CSRF token: no \(token.place) (status \(response.status))")
            }
            return
        }
        throw .unavailable("the login page redirects too often")
    }

    /// Reads the CSRF token from a page, or from a cookie.
    ///
    /// - Parameter url: the URL that the token will be sent to.
    private mutating func readToken(from response: FlowResponse?, for url: String) {
        guard let token = scheme.token, let url = PageURL(url) else { return }
        csrf = token.read(from: response, jar.sent(to: url, at: flow.unixSeconds)) ?? csrf
    }

    /// Sends a request with the CSRF token and the headers that frameworks check with it.
    private mutating func send(_ fields: LoginFields, _ method: String, to url: String) async throws(SchemeError) -> FlowResponse
    {
        var fields = fields
        var headers: [(name: String, value: String)] = []
        if scheme.format == .json { headers.append(("Accept", "application/json")) }
        if method == "POST", let token = scheme.token, let csrf {
            let source = page ?? scheme.loginPage
            headers.append(("Origin", source.origin))
            // Neither the token nor the page's URL may reach another origin.
            if PageURL(url)?.origin == source.origin {
                headers.append(("Referer", source.text))
                if let header = token.header { headers.append((header, csrf)) }
                if let field = token.field { fields.append(field, .string(csrf)) }
            }
        }
        let response: FlowResponse
        switch (method, scheme.format) {
        case ("GET", _): response = try await exchange(FlowRequest("GET", url, headers: headers))
        case (_, .form): response = try await exchange(.post(url, form: fields.form, headers: headers))
        case (_, .json): response = try await exchange(.post(url, json: fields.json, headers: headers))
        }
        // Many frameworks issue a new token with a login.
        readToken(from: response, for: url)
        return response
    }

    /// Sends a request with its cookies, and stores those of the response. Doesn't follow redirects, because each response may set
    /// cookies.
    private mutating func exchange(_ request: FlowRequest) async throws(SchemeError) -> FlowResponse {
        var request = request
        request.followsRedirects = false
        if let url = PageURL(request.url) {
            let cookies = jar.sent(to: url, at: flow.unixSeconds).map { "\($0.name)=\(String(revealing: $0.value))" }
            if !cookies.isEmpty { request.headers.append(("Cookie", cookies.joined(separator: "; "))) }
        }
        let response = try await flow.send(request)
        guard let url = PageURL(response.url) else { return response }
        let stored = jar.store(
            response.headers(named: "Set-Cookie"), from: url, at: flow.unixSeconds, scheme.publicSuffixes)
        if request.method == "POST" {
            newCookies.formUnion(stored.map { $0.name }.filter { scheme.token?.isCookie($0) != true })
        }
        return response
    }
}

/// The fields of a login, sent as a form or as JSON.
struct LoginFields {
    private var fields: [(name: String, value: JSONValue)]

    init(_ fields: [(name: String, value: JSONValue)]) {
        self.fields = fields
    }

    mutating func append(_ name: String, _ value: JSONValue) {
        fields.append((name, value))
    }

    var json: JSONValue { .object(fields.map { JSONValue.Member($0.name, $0.value) }) }

    var form: FormFields {
        var form = FormFields()
        for (name, value) in fields {
            if case .secret(let secret) = value {
                form.append(name, .secret(secret))
            } else {
                form.append(name, .text(value.asText ?? ""))
            }
        }
        return form
    }
}

extension String {
    /// The text as an account's name; empty if the host would refuse it: longer than 256 bytes, or with control characters.
    fileprivate var asAccount: String {
        utf8.count <= 256 && utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } ? self : ""
    }
}

internal import NevodPluginKit
internal import NevodSupport

/// The place of a CSRF token that a form or a request must send back.
enum CSRFSource: String, CaseIterable, SettingValue {
    case none, cookie, header, input, meta, json, text
}

/// The place of the token for the session's unsafe requests.
enum RequestCSRFSource: String, CaseIterable, SettingValue {
    case asLogin = "as-login"
    case none, cookie, header, input, meta, json, text

    /// The place, which may be the login's.
    func resolved(_ login: CSRFSource) -> CSRFSource { CSRFSource(text: rawValue) ?? login }
}

/// The places that a CSRF token is read from and sent to.
struct CSRFToken: Sendable {
    let source: CSRFSource
    private let name: String
    let header: String?
    let field: String?

    /// The longest token in bytes.
    private static let most = 2048

    /// Creates a token from settings with a prefix in their names; nil if no token is needed.
    ///
    /// - Parameter isForRequests: whether it is sent with the session's requests, by default in a header. A login by default
    ///   sends it where the framework's own page would.
    init?(
        _ source: CSRFSource, name: String?, header: String?, field: String?, prefix: String = "", isForRequests: Bool = false
    ) throws(SchemeError) {
        for (setting, value) in [("csrf-name", name), ("csrf-header", header), ("csrf-field", field)] {
            guard let value else { continue }
            if source == .none { throw .badSetting(prefix + setting, "has no meaning without \(prefix)csrf") }
            if value.isEmpty { throw .badSetting(prefix + setting, "must not be empty") }
        }
        if let header, !header.utf8.allSatisfy({ $0.isTokenByte }) {
            throw .badSetting("\(prefix)csrf-header", "must be a header's name")
        }
        if let header, TransportHeader.has(header.utf8) {
            throw .badSetting("\(prefix)csrf-header", "must be another header: this one is the host's own")
        }
        self.source = source
        let isElsewhere = header != nil || field != nil
        self.field = !isElsewhere && source == .input && !isForRequests ? name ?? "csrfmiddlewaretoken" : field
        switch source {
        case .none: return nil
        case .cookie:
            self.name = name ?? "csrftoken"
            self.header = isElsewhere ? header : "X-CSRFToken"
        case .header:
            self.name = name ?? "X-CSRF-Token"
            self.header = isElsewhere ? header : self.name
        case .input:
            self.name = name ?? "csrfmiddlewaretoken"
            self.header = isElsewhere || !isForRequests ? header : "X-CSRFToken"
        case .meta:
            self.name = name ?? "csrf-token"
            self.header = isElsewhere ? header : "X-CSRF-Token"
        case .json, .text:
            guard let name else {
                let what = source == .json ? "the member's name" : "the text around the token, BEFORE*AFTER"
                throw .badSetting("\(prefix)csrf-name", "is missing: \(what)")
            }
            if source == .text {
                let star = name.utf8.firstIndex(of: UInt8(ascii: "*"))
                guard let star, star > name.utf8.startIndex else {
                    throw .badSetting("\(prefix)csrf-name", "must be BEFORE*AFTER, the text around the token")
                }
            }
            self.name = name
            self.header = isElsewhere ? header : "X-CSRF-Token"
        }
    }

    /// The token's place, for messages.
    var place: String {
        switch source {
        case .input: "input named \(name)"
        case .meta: "meta element named \(name)"
        case .json: "JSON member \(name)"
        case .text: "text \(name)"
        case .none, .cookie, .header: "\(source.rawValue) \(name)"
        }
    }

    /// The token's name in a page, if it is in a page.
    var pageNames: [String] { source == .input || source == .meta ? [name] : [] }

    /// Whether a cookie is the token. Such a cookie doesn't prove a session.
    func isCookie(_ name: String) -> Bool { source == .cookie && name.equals(self.name) }

    /// Reads the token from a response, or from a cookie.
    ///
    /// - Parameters:
    ///   - answer: the response; nil if there is none, so that only a cookie can hold the token.
    ///   - cookies: the cookies for the URL that the token is sent to.
    /// - Returns: nil if it isn't there, or if a header can't carry its value.
    func read(from answer: Answer?, _ cookies: [JarCookie]) -> String? {
        let token: String? =
            switch source {
            case .none: nil
            // Some frameworks percent-encode the token in the cookie, and expect it back decoded.
            case .cookie:
                cookies.first { $0.name.equals(name) }.map { cookie in
                    let bytes = cookie.value.withUnsafeBytes { PercentEncoding.decoded($0, plusIsSpace: false) }
                    return String(decoding: bytes, as: UTF8.self)
                }
            case .header: answer?.header(name)
            case .input: answer?.page?.forms.lazy.compactMap { $0.value(named: name) }.first
            case .meta: answer?.page?.meta(named: name)
            case .json: answer?.json?.member(at: name.memberPath)?.asText
            case .text: answer.flatMap { text(in: $0.body) }
            }
        guard let token, !token.isEmpty, token.utf8.count <= Self.most, !token.utf8.contains(where: { $0.isControl })
        else { return nil }
        return token
    }

    /// The text between the two parts of the name.
    private func text(in body: Secret) -> String? {
        let parts = name.utf8.split(separator: UInt8(ascii: "*"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return body.withUnsafeBytes { bytes in
            guard let before = bytes.firstRange(ofBytes: Array(parts[0])) else { return nil }
            let rest = bytes[before.upperBound...].prefix(Self.most + 1)
            let end = parts[1].isEmpty ? rest.firstIndex { $0 <= 0x20 } : rest.firstRange(ofBytes: Array(parts[1]))?.lowerBound
            return end.map { String(decoding: rest[..<$0], as: UTF8.self) }
        }
    }
}

extension CookieAuth {
    /// The CSRF token for a request; nil if there is none, or if it belongs to another origin.
    func value(
        of token: CSRFToken, for url: PageURL, _ request: borrowing RequestView, _ session: Session, _ cookies: [JarCookie]
    ) -> String? {
        if token.source == .cookie {
            return site.origins.contains { $0.equals(url.origin) } ? token.read(from: nil, cookies) : nil
        }
        let latest = request.state.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) }.flatMap { session.kept($0) }
        return [latest, session.csrf].lazy.compactMap { $0 }.first { $0.origin.equals(url.origin) }?.value
    }

    /// Shows the server that a request comes from its own page: adds the token, and the lines that browsers write. Keeps the lines
    /// that the caller or the settings define.
    func prove(
        _ request: borrowing RequestView, at url: PageURL, _ headers: [(name: String, value: String)], _ token: CSRFToken,
        _ value: String?, _ edits: Edits
    ) {
        guard site.origins.contains(where: { $0.equals(url.origin) }) else { return }
        let lines = request.lines
        let has = { (name: String) in (lines + headers).contains { $0.name.equalsIgnoringCase(name) } }
        if !has("Origin") { edits.setHeader("Origin", url.origin) }
        if !has("Referer") { edits.setHeader("Referer", url.origin + "/") }
        guard let value else { return }
        if let header = token.header, !has(header) { edits.setHeader(header, value) }
        guard let field = token.field, !request.hasStreamedBody,
            let type = lines.first(where: { $0.name.equalsIgnoringCase("Content-Type") })?.value,
            let form = FormBody(contentType: type)
        else { return }
        let body = request.body.withUnsafeBufferPointer { Array($0) }
        if let body = form.adding(field, value, to: body) { edits.replaceBody(body.span) }
    }

    /// Keeps the CSRF token from a response's page for the next unsafe request.
    func keepToken(of answer: Answer, _ session: Session, _ edits: ResponseEdits) {
        guard let token = site.requestToken, requestCSRFPage == nil, let value = token.read(from: answer, []) else { return }
        edits.setState(Array(session.kept(IssuedCSRF(value: value, origin: answer.url.origin)).utf8))
    }

    /// The page with the CSRF token for requests, or one that probably has it.
    var csrfPage: PageURL? {
        if let page = requestCSRFPage { return PageURL(page.text) }
        return site.probe ?? site.formPage ?? (site.loginToken == nil ? nil : site.loginPage)
    }
}

extension RequestView {
    fileprivate var lines: [(name: String, value: String)] {
        var lines: [(name: String, value: String)] = []
        forEachHeader { name, value in lines.append((String(copying: name), String(copying: value))) }
        return lines
    }
}

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
    func resolved(_ login: CSRFSource) -> CSRFSource { CSRFSource(rawValue: rawValue) ?? login }
}

/// Where a CSRF token is read from, and where it is sent.
struct CSRFToken: Sendable {
    let source: CSRFSource
    private let name: String
    let header: String?
    let field: String?

    /// The longest token in bytes.
    private static let most = 2048

    /// Creates a token from settings whose names have a prefix; nil if none is needed.
    ///
    /// - Parameter isForRequests: whether it goes with the session's requests, by default in a header; with a login it goes where
    ///   its framework's page sends it.
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

    /// The name that a page has for the token, if a page has it.
    var pageNames: [String] { source == .input || source == .meta ? [name] : [] }

    /// Whether a cookie is the token, and so no sign of a session.
    func isCookie(_ name: String) -> Bool { source == .cookie && name.equals(self.name) }

    /// Reads the token from a response, or from a cookie.
    ///
    /// - Parameters:
    ///   - answer: the response; nil if there is none, so that only a cookie can hold the token.
    ///   - cookies: the cookies for the URL that the token is sent to.
    /// - Returns: nil if it isn't there, and for a value that no header can carry.
    func read(from answer: Answer?, _ cookies: [JarCookie]) -> String? {
        let token: String? =
            switch source {
            case .none: nil
            // Some frameworks percent-encode the token in the cookie, and expect it decoded.
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
        guard let token, !token.isEmpty, token.utf8.count <= Self.most, token.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
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

internal import NevodPluginKit
internal import NevodSupport

/// The place of a page's CSRF token, which the login must send back.
enum CSRFSource: String, CaseIterable, SettingValue {
    case none, cookie, header, input
}

/// Where a CSRF token is read from, and where it is sent.
struct CSRFToken: Sendable {
    private let source: CSRFSource
    private let name: String
    let header: String?
    let field: String?

    /// Creates a token from the settings, whose defaults are Django's; nil if the login needs none.
    init?(_ source: CSRFSource, name: String?, header: String?, field: String?) throws(SchemeError) {
        for (setting, value) in [("csrf-name", name), ("csrf-header", header), ("csrf-field", field)] {
            guard let value else { continue }
            if source == .none { throw .badSetting(setting, "has no meaning without csrf") }
            if value.isEmpty { throw .badSetting(setting, "must not be empty") }
        }
        if let header, !header.utf8.allSatisfy({ $0.isTokenByte }) { throw .badSetting("csrf-header", "must be a header's name") }
        self.source = source
        let isElsewhere = header != nil || field != nil
        switch source {
        case .none: return nil
        case .cookie:
            self.name = name ?? "csrftoken"
            self.header = isElsewhere ? header : "X-CSRFToken"
            self.field = field
        case .header:
            self.name = name ?? "X-CSRF-Token"
            self.header = isElsewhere ? header : self.name
            self.field = field
        case .input:
            self.name = name ?? "csrfmiddlewaretoken"
            self.header = header
            self.field = isElsewhere ? field : self.name
        }
    }

    /// The token's place, for messages.
    var place: String { source == .input ? "input named \(name)" : "\(source.rawValue) \(name)" }

    /// Whether a cookie is the token, and so no sign of a session.
    func isCookie(_ name: String) -> Bool { source == .cookie && name == self.name }

    /// Reads the token from a page, or from a cookie.
    ///
    /// - Parameters:
    ///   - response: the page; nil if none has been read, so that only a cookie can hold the token.
    ///   - cookies: the cookies for the URL that the token is sent to.
    func read(from response: FlowResponse?, _ cookies: [JarCookie]) -> String? {
        switch source {
        case .none: nil
        // Some frameworks percent-encode the token in the cookie, and expect it decoded.
        case .cookie:
            cookies.first { $0.name == name }.map { cookie in
                let bytes = cookie.value.withUnsafeBytes { PercentEncoding.decoded($0, plusIsSpace: false) }
                return String(decoding: bytes, as: UTF8.self)
            }
        case .header: response?.header(name)
        case .input: response.flatMap { HTMLInputs($0.body).value(named: name) }
        }
    }
}

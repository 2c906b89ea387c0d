internal import NevodPluginKit
internal import NevodSupport

/// Where a page holds the token that a server wants to see again with a login.
enum CSRFSource: String, CaseIterable, SettingValue {
    case none, cookie, header, input
}

/// Where a CSRF token is read, and where it is sent.
struct CSRFToken: Sendable {
    private let source: CSRFSource
    private let name: String
    let header: String?
    let field: String?

    /// - Parameters: the settings; the defaults are Django's.
    /// - Returns: nil: the login takes none.
    init?(_ source: CSRFSource, name: String?, header: String?, field: String?) throws(SchemeError) {
        for (setting, value) in [("csrf-name", name), ("csrf-header", header), ("csrf-field", field)] {
            guard let value else { continue }
            if source == .none { throw .badSetting(setting, "has no meaning without csrf") }
            if value.isEmpty { throw .badSetting(setting, "must not be empty") }
        }
        if let header, !header.utf8.allSatisfy(\.isTokenByte) { throw .badSetting("csrf-header", "must be a header's name") }
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

    /// For messages.
    var place: String { source == .input ? "input named \(name)" : "\(source.rawValue) \(name)" }

    /// Whether a cookie is the token, and no sign of a session.
    func isCookie(_ name: String) -> Bool { source == .cookie && name == self.name }

    /// - Parameters:
    ///   - response: nil: no page has been read; only a cookie can be there.
    ///   - cookies: those that go to where the token is sent.
    func read(from response: FlowResponse?, _ cookies: [JarCookie]) -> String? {
        switch source {
        case .none: nil
        // Some frameworks percent-encode what they put into a cookie, and want it back as it was before.
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

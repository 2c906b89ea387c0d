internal import NevodPluginKit
internal import NevodSupport

/// The scheme's token: the session's cookies, and the CSRF token of its unsafe requests.
struct Session: Equatable, Sendable {
    var jar: Jar
    /// The token that a page or another response has brought; nil without one, and if a cookie holds it.
    var csrf: IssuedCSRF?
    /// The login that it comes from, at random: a token that the host keeps for requests belongs to one session.
    let id: String

    init(_ jar: Jar = Jar(), csrf: IssuedCSRF? = nil, id: String = "") {
        (self.jar, self.csrf, self.id) = (jar, csrf, id)
    }
}

/// A CSRF token that a server has issued.
struct IssuedCSRF: Equatable, Sendable {
    let value: String
    /// The origin that issued it, and the only one that gets it.
    let origin: String
}

extension Session {
    /// The form in which the host keeps the token of a page for later requests of this session.
    func kept(_ csrf: IssuedCSRF) -> String { "\(id)\t\(csrf.encoded)" }

    /// Reads a kept token; nil for that of another session.
    func kept(_ text: String) -> IssuedCSRF? {
        guard let tab = text.utf8.firstIndex(of: 0x09), text.utf8[..<tab].elementsEqual(id.utf8) else { return nil }
        return IssuedCSRF(decoding: String(text[text.utf8.index(after: tab)...]))
    }
}

extension IssuedCSRF {
    /// The form in which the session stores it: the origin, a tab, the value. Neither has a tab or a line break.
    var encoded: String { "\(origin)\t\(value)" }

    init?(decoding text: String) {
        guard let tab = text.utf8.firstIndex(of: 0x09) else { return nil }
        let (origin, value) = (text[..<tab], text[text.utf8.index(after: tab)...])
        guard !origin.isEmpty, !value.isEmpty, !value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        self.init(value: String(value), origin: String(origin))
    }
}

import NevodHost
import NevodSupport

/// A preset that fits a page, by the preset's own settings.
struct PresetMatch {
    let preset: SchemePreset
    /// The base of the preset's relative addresses.
    let site: String
    /// The parts of the page that match the preset, for a message.
    let signs: [String]
    /// Settings for which the page is a better source than the preset.
    let corrections: [(name: String, value: String)]
    /// Whether the form was shown at an address other than the preset's login page. Only a logged-in user sees the page that
    /// belongs there.
    let isBesideItsPage: Bool
    private let score: Int
    /// Whether a sign is rare: several common names together could still be any site's.
    private let isProven: Bool
    /// The length of the path that fits: the more specific of two presets goes first.
    private let precision: Int

    /// Names in the forms of many applications. They are a sign, but not a proof.
    private static let commonFields: Set<String> = ["username", "user", "login", "email", "name", "password", "passwd", "pass"]
    private static let commonPaths: Set<String> = [
        "", ".", "login", "signin", "sign_in", "session", "sessions", "auth", "auth/login", "user/login",
    ]
    private static let commonCookies: Set<String> = ["PHPSESSID", "JSESSIONID", "session", "sid"]
    /// Names of hidden fields that a framework's library adds to any form.
    private static let commonTokens: Set<String> = ["csrf_token", "csrf", "_token", "token"]
    private static let leastScore = 3

    /// The presets of a scheme that fit, best first. Presets that fit equally well have the same rank.
    static func all(of scheme: Scheme, _ page: SitePage, _ form: LoginForm) -> [PresetMatch] {
        // A preset that can't be read, or that a person has to complete, never fits.
        let matches = SchemePreset.names(for: scheme).compactMap { name in
            (try? SchemePreset.named(name, for: scheme)).flatMap { PresetMatch($0, scheme, page, form) }
        }
        return matches.filter { $0.isProven && $0.score >= leastScore }.sorted {
            ($1.rank, $0.preset.name) < ($0.rank, $1.preset.name)
        }
    }

    /// Orders matches: a higher rank is better.
    var rank: Rank { Rank(score: score, precision: precision) }

    struct Rank: Comparable {
        let score: Int
        let precision: Int

        static func < (first: Rank, second: Rank) -> Bool {
            (first.score, first.precision) < (second.score, second.precision)
        }
    }

    /// Returns nil for a preset that can't log in with this form.
    init?(_ preset: SchemePreset, _ scheme: Scheme, _ page: SitePage, _ form: LoginForm) {
        guard let settings = try? preset.settings() else { return nil }
        let value = { (name: String) -> String? in
            for (known, value) in settings.values where known == name {
                if case .text(let text) = value { return text }
            }
            return scheme.settings.first { $0.name == name }?.defaultValue
        }
        self.preset = preset
        // A name that many sites have has the weight 1.
        var signs: [(text: String, weight: Int)] = []
        var corrections: [(name: String, value: String)] = []

        let login = value("login")
        let source = value("page") ?? login
        let ofLogin = login.flatMap { form.action.base(of: $0, with: form.form.successful) }
        let ofPage = source.flatMap { page.lasting.base(of: $0) }.flatMap { ofLogin == nil || $0 == ofLogin ? $0 : nil }
        site =
            ofLogin ?? ofPage ?? login.flatMap { form.action.base(of: $0, ignoringQuery: true) }
            ?? source.flatMap { page.lasting.base(of: $0, ignoringQuery: true) } ?? "\(page.address.origin)/"
        let path = (ofLogin != nil ? login : ofPage != nil ? source : nil) ?? ""
        precision = path.utf8.count
        if ofLogin != nil || ofPage != nil {
            signs.append(
                (
                    ofLogin != nil ? "the address of the login" : "the address of the page",
                    Self.commonPaths.contains(Self.withoutSlashes(path)) ? 1 : Self.leastScore
                ))
        }
        if ofLogin == nil { corrections.append(("login", form.action.text)) }
        let hasPage = value("page") != nil
        isBesideItsPage = ofLogin != nil && hasPage && ofPage == nil && !form.isOfContainer
        if ofPage == nil, !isBesideItsPage, hasPage || form.action != page.lasting {
            corrections.append(("page", page.lasting.text))
        }

        let fields = [value("username-field") ?? "", value("password-field") ?? ""]
        let hasFields = form.has(fields[1]) && (fields[0].isEmpty ? form.usernameField.isEmpty : form.has(fields[0]))
        if hasFields {
            let areCommon = fields.allSatisfy { $0.isEmpty || Self.commonFields.contains($0.lowercased()) }
            signs.append(("the fields", areCommon ? 1 : Self.leastScore))
        } else {
            corrections += [("username-field", form.usernameField), ("password-field", form.passwordField)]
        }

        if let token = Self.token(value("csrf"), value("csrf-name")) {
            guard Self.has(token, page, form) else { return nil }
            let isCommon = token.source == "input" && Self.commonTokens.contains(token.name)
            signs.append(("the CSRF token", isCommon ? 1 : 2))
        }
        if let cookie = value("session-cookie"), page.cookies.contains(where: { Self.matches($0, cookie) }) {
            signs.append(("the cookie", Self.commonCookies.contains(cookie) ? 1 : 2))
        }
        if Self.words(naming: page).contains(preset.name) { signs.append(("the name", 2)) }
        guard hasFields || ofLogin != nil else { return nil }
        self.signs = signs.map(\.text)
        score = signs.reduce(0) { $0 + $1.weight }
        isProven = signs.contains { $0.weight > 1 }
        self.corrections = corrections
    }

    /// Makes a match of a preset that a person chose, although it doesn't log in by a form of the page.
    init(chosen preset: SchemePreset, _ page: SitePage) {
        self.preset = preset
        let folder = page.address.path.utf8.lastIndex(of: UInt8(ascii: "/")).map { page.address.path[...$0] } ?? "/"
        site = "\(page.address.origin)\(folder)"
        (signs, corrections, score, precision, isBesideItsPage, isProven) = ([], [], 0, 0, false, true)
    }

    /// Returns the presets with a name that is in the page's title or in its generator tag.
    static func named(by page: SitePage, _ scheme: Scheme) -> [String] {
        let words = words(naming: page)
        return SchemePreset.names(for: scheme).filter(words.contains)
    }

    /// The CSRF token that the page must have; nil if another page may have it, or if none is needed.
    private static func token(_ source: String?, _ name: String?) -> (source: String, name: String)? {
        switch (source, name) {
        case ("input", _): ("input", name ?? "csrfmiddlewaretoken")
        case ("cookie", _): ("cookie", name ?? "csrftoken")
        case ("meta", let name?): ("meta", name)
        default: nil
        }
    }

    private static func has(_ token: (source: String, name: String), _ page: SitePage, _ form: LoginForm) -> Bool {
        switch token.source {
        case "input": page.html.form(with: token.name) != nil
        case "cookie": page.cookies.contains { matches($0, token.name) }
        default: page.html.meta(named: token.name) != nil
        }
    }

    /// Whether a name fits a pattern, in which `*` means any text.
    static func matches(_ name: String, _ pattern: String) -> Bool {
        var rest = name.utf8[...]
        let parts = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
        guard parts.count > 1 else { return name.utf8.elementsEqual(pattern.utf8) }
        for (index, part) in parts.enumerated() {
            if index == 0 {
                guard rest.starts(with: part) else { return false }
                rest = rest.dropFirst(part.count)
            } else if index == parts.count - 1 {
                return rest.count >= part.count && rest.suffix(part.count).elementsEqual(part)
            } else {
                while !rest.starts(with: part) {
                    guard rest.popFirst() != nil else { return false }
                }
                rest = rest.dropFirst(part.count)
            }
        }
        return true
    }

    private static func withoutSlashes(_ path: String) -> String {
        let path = path.utf8.prefix { $0 != UInt8(ascii: "?") }
        return path.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.joined(separator: "/").lowercased()
    }

    private static func words(naming page: SitePage) -> Set<String> {
        let text = "\(page.html.title) \(page.html.meta(named: "generator") ?? "")".lowercased()
        return Set(text.utf8.split { !$0.isLowercase && !$0.isDigit }.map { String(Substring($0)) })
    }
}

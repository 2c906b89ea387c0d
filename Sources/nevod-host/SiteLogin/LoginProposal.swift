import NevodHost
import NevodSupport

/// The settings for a login by the form of a page.
struct LoginProposal {
    /// Nil if the settings come from the form alone.
    let match: PresetMatch?
    /// Other presets that fit as well as this one.
    let others: [String]
    /// Presets that the page names, but that log in another way than by its forms.
    let named: [String]
    /// The base of the site's addresses, without a slash at its end.
    let url: String
    /// The names and values of `--set`, in order.
    private(set) var settings: [String] = []

    /// The value of `preset` that leaves presets out, and uses only the form's settings.
    private static let none = "none"

    /// - Parameter given: the values of `--set` that were typed. They replace what the page says.
    init(_ page: SitePage, _ form: LoginForm, _ scheme: Scheme, given: [String]) throws {
        let typed = given.map { text in
            (name: String(Substring(text.utf8.prefix { $0 != UInt8(ascii: "=") })), text: text)
        }
        let presetName = SchemePreset.settingName
        let chosen = typed.last { $0.name == presetName }.map { String($0.text.dropFirst(presetName.utf8.count + 1)) }
        var matches: [PresetMatch] = []
        if let chosen, chosen != Self.none {
            let preset = try SchemePreset.named(chosen, for: scheme)
            // The preset may log in another way than by the page, such as by an API.
            matches = [PresetMatch(preset, scheme, page, form) ?? PresetMatch(chosen: preset, page)]
        } else if chosen == nil {
            matches = PresetMatch.all(of: scheme, page, form)
        }
        match = matches.first
        named = PresetMatch.named(by: page, scheme).filter { name in !matches.contains { $0.preset.name == name } }
        others = matches.dropFirst().filter { $0.rank == matches[0].rank }.map(\.preset.name)

        let site = match?.site ?? "\(page.address.origin)/"
        let base = typed.last { $0.name == "site" }.map { String($0.text.dropFirst(5)) } ?? site
        url = base.utf8.last == UInt8(ascii: "/") ? String(base.dropLast()) : base
        var found: [(name: String, value: String)] = []
        if let match {
            found = [(presetName, match.preset.name), ("site", site)] + match.corrections
        } else {
            found = [("site", site)] + Self.settings(of: form, page)
        }
        // A preset's sign of success fits only the preset's own probe, so no other probe is added.
        let hasSign = match?.preset.settingNames.contains("probe-success") == true
        if !hasSign, let probe = match?.isBesideItsPage == true ? page.asked : Self.probe(page, form) {
            found.append(("probe", probe.text))
        }
        let names = Set(typed.map(\.name))
        for (name, value) in found where name == presetName || !names.contains(name) { add(name, value) }
        settings += typed.filter { $0.name != presetName }.map(\.text)
    }

    /// Adds a text as it is, even if it looks like the source of a secret.
    mutating func add(_ name: String, _ value: String) {
        let isPlain = !SecretSource.isSource(value) && !value.hasPrefix("text:")
        settings.append("\(name)=\(isPlain ? "" : "text:")\(value)")
    }

    /// Whether a setting has a value, here or in the preset.
    func has(_ name: String) -> Bool {
        settings.contains { $0.utf8.starts(with: "\(name)=".utf8) } || match?.preset.settingNames.contains(name) == true
    }

    /// The page is always among the settings: the form's hidden fields are copied from it.
    private static func settings(of form: LoginForm, _ page: SitePage) -> [(name: String, value: String)] {
        var settings = [
            ("login", form.action.text), ("page", page.lasting.text), ("username-field", form.usernameField),
            ("password-field", form.passwordField),
        ]
        // These are the names that a page's scripts look for in any framework.
        if page.html.meta(named: "csrf-token") != nil {
            settings += [
                ("request-csrf", "meta"), ("request-csrf-name", "csrf-token"), ("request-csrf-header", "X-CSRF-Token"),
            ]
        } else if page.cookies.contains("XSRF-TOKEN") {
            settings += [
                ("request-csrf", "cookie"), ("request-csrf-name", "XSRF-TOKEN"), ("request-csrf-header", "X-XSRF-TOKEN"),
            ]
        } else if let token = form.form.fields.first(where: { $0.type == "hidden" && isToken($0.name) }) {
            settings += [
                ("request-csrf", "input"), ("request-csrf-name", token.name), ("request-csrf-field", token.name),
                ("request-csrf-header", "X-CSRF-Token"),
            ]
        }
        return settings
    }

    /// Whether a hidden field's name is one that frameworks give to CSRF tokens.
    private static func isToken(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["authenticity_token", "_token", "__requestverificationtoken"].contains(name) || name.contains("csrf")
            || name.contains("xsrf")
    }

    /// The address that only a logged-in user may see: the address that redirected to the login page; nil if it isn't known.
    private static func probe(_ page: SitePage, _ form: LoginForm) -> SiteAddress? {
        if form.isOfContainer { return page.asked ?? page.lasting }
        guard let asked = page.asked else { return nil }
        let last = asked.lastName
        let isLogin = loginNames.contains(last.lowercased()) || last == page.address.lastName && !last.isEmpty
        return page.isRedirected && !isLogin ? asked : nil
    }

    private static let loginNames: Set<String> = ["login", "signin", "sign_in", "sign-in", "log-in", "log_in", "auth"]
}

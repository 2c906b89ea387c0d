import NevodHost
import NevodSupport

// Where `login URL` sends a password: to the origin that was typed, or to another one that a person has confirmed.

extension SitePage {
    /// The typed address, with https if the site redirected there: http and https at the default ports of a host are one site.
    /// Nil if redirects led to another origin.
    var asked: SiteAddress? {
        let (from, to) = (given.origin, address.origin)
        if from == to { return given }
        let isUpgrade =
            from.scheme == .http && to.scheme == .https && from.host == to.host && from.isAtDefaultPort && to.isAtDefaultPort
        return isUpgrade ? SiteAddress("\(to)\(given.target)") : nil
    }

    /// Whether redirects led to another origin than the typed one.
    var isElsewhere: Bool { asked == nil }
}

extension Origin {
    /// Whether the port is the scheme's default.
    fileprivate var isAtDefaultPort: Bool { port == (scheme == .https ? 443 : 80) }
}

extension SiteLogin {
    /// Refuses to send a password to an origin that nobody has confirmed.
    func checkOrigin(_ page: SitePage, asks: Bool) throws {
        guard !asks, page.isElsewhere else { return }
        throw SiteLoginError(
            "\(page.given) led to another origin, and --yes sends no password there; if it is the right one, give its address: "
                + "nevod-host login \(ShellWord.quoted(page.lasting.text))")
    }

    /// Asks whether to go on. Another origin than the typed one needs a clear yes.
    func confirms(_ page: SitePage, _ writer: ConfigWriter) async throws -> Bool {
        let choice = page.isElsewhere ? "y/N" : "Y/n"
        let answer = try await line("Log in with these settings, and write the profile to \(writer.path)? (\(choice)) ")
        return ["y", "yes"].contains(answer.lowercased()) || answer.isEmpty && !page.isElsewhere
    }
}

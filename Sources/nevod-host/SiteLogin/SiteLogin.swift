import Glibc
import NevodHost
import NevodSupport

/// `login URL` without a profile: finds out from the page how the site logs in, logs in, and writes a profile with these
/// settings.
///
/// The password is sent to the origin that was shown, and the profile is written only after the login has succeeded.
struct SiteLogin {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    /// The plugin of the scheme `cookie`.
    static let plugin = "libCookieAuth.so"
    private static let mostAttempts = 3

    func run() async throws {
        let url = try operand()
        let writer = try ConfigWriter()
        let add = ProfileAdd(arguments: arguments, console: console, writer: writer)
        if let name = arguments.value(.profileName) { try add.checkNew(name) }
        let scheme = try PluginLoader.load(Self.plugin).scheme(nil)
        // The settings are shown, and written into the profile, so they must not be secrets.
        try SettingSource(scheme: scheme, console: console).refusePlainSecrets(arguments.values(.set))
        let page = try await SitePageReader(arguments: arguments, console: console, session: session).page(at: url)
        let form = try LoginForm(of: page)
        var proposal = try LoginProposal(page, form, scheme, given: arguments.values(.set))
        show(Self.text(of: proposal, page))
        let asks = Terminal.isAvailable && !arguments.has(.yes)
        if asks, !proposal.has("probe"), let probe = try await askProbe(page.address) { proposal.add("probe", probe) }
        let name = try await name(for: page, asks: asks, add)
        let draft = try draft(name, proposal)
        guard asks || arguments.has(.yes) else { throw try withoutTerminal(draft) }
        try checkOrigin(page, asks: asks)
        if asks, try await !confirms(page, writer) {
            throw SiteLoginError("cancelled; no password was sent, and no profile written", exitCode: ExitCode.other)
        }
        try await logIn(draft, add)
    }

    private func operand() throws -> String {
        guard arguments.operands.count == 1, let operand = arguments.operands.first else {
            throw UsageError("login takes one URL: nevod-host login https://site.example/")
        }
        guard arguments.profile == nil, !arguments.has(.plugin) else {
            throw UsageError(
                "login takes no URL with a profile or a plugin, since their settings say where to log in; leave out one of them"
            )
        }
        for name in [Flag.Name.scheme, .param, .origin] where arguments.has(name) {
            throw UsageError("login with a URL takes no \(name.spelling)")
        }
        for text in arguments.values(.set) where text.utf8.suffix(2).elementsEqual("=-".utf8) {
            throw UsageError(
                "--set \(text) can't be kept in a profile; write env:VARIABLE or file:PATH, or leave it out to be asked")
        }
        return OperandURL.absolute(operand)
    }

    // MARK: The proposal

    /// Writes to the terminal as well if standard error isn't shown there: a person has to see where the password will be sent.
    private func show(_ lines: [String]) {
        for line in lines { console.inform(line) }
        guard console.isSilent || isatty(STDERR_FILENO) == 0 else { return }
        Terminal.write(lines.map { "\(TerminalText.safe($0))\n" }.joined())
    }

    private static func text(of proposal: LoginProposal, _ page: SitePage) -> [String] {
        var lines: [String] = []
        if page.address != page.given, !page.isElsewhere { lines.append("\(page.given) led to \(page.address)") }
        if page.isElsewhere {
            lines.append(
                "warning: \(page.given) led to another origin: \(page.address), to which the user name and password would be sent"
            )
        }
        if !page.address.origin.isAuthentic {
            lines.append(
                "warning: \(page.address.origin) is not encrypted: others on the network can read the password and the session")
        }
        if let match = proposal.match, match.signs.isEmpty {
            lines.append(
                "the preset \"\(match.preset.name)\" (\(match.preset.title)) logs in another way than by the page's form")
        } else if let match = proposal.match {
            lines.append(
                "the preset \"\(match.preset.name)\" (\(match.preset.title)) fits \(match.signs.joined(separator: ", "))")
        } else {
            lines.append("no preset fits; the settings come from the page's form")
        }
        if !proposal.others.isEmpty {
            let names = proposal.others.map { "\"\($0)\"" }.joined(separator: ", ")
            lines.append("these fit as well: \(names); --set preset=NAME chooses one, and preset=none the form's own settings")
        }
        for name in proposal.named {
            lines.append("the page names \"\(name)\", a preset that logs in another way than by its form: --set preset=\(name)")
        }
        return lines + proposal.settings.map { "  set = \($0)" }
    }

    private func askProbe(_ page: SiteAddress) async throws -> String? {
        for _ in 0..<Self.mostAttempts {
            let answer = try await line("Address that only a logged-in user may see (empty for none): ")
            guard !answer.isEmpty else { return nil }
            if let address = page.resolving(answer), address.origin == page.origin { return address.text }
            Terminal.write("an address of \(page.origin), such as /account\n")
        }
        throw UsageError("the probe must be an address of \(page.origin)")
    }

    private func name(for page: SitePage, asks: Bool, _ add: ProfileAdd) async throws -> String {
        if let name = arguments.value(.profileName) { return name }
        let proposed = Self.name(of: page.address.origin)
        guard asks else {
            try add.checkNew(proposed)
            return proposed
        }
        for attempt in 1... {
            let answer = try await line("Name of the profile (empty for \(proposed)): ")
            let name = answer.isEmpty ? proposed : answer
            do {
                try add.checkNew(name)
                return name
            } catch let error as UsageError {
                guard attempt < Self.mostAttempts else { throw error }
                Terminal.write("\(error)\n")
            }
        }
        return proposed
    }

    /// Returns the first label of the host, which distinguishes a person's sites; for an IP address, the whole address.
    private static func name(of origin: Origin) -> String {
        let labels = origin.host.split(separator: ".").map(String.init)
        guard !origin.host.contains(":"), labels.contains(where: { Int($0) == nil }) else { return origin.host }
        return labels.first { $0 != "www" } ?? origin.host
    }

    /// Asks at the terminal for a line, without the spaces around it.
    func line(_ prompt: String) async throws -> String {
        guard let answer = try await Terminal.answer(prompt, echoes: true) else {
            throw UsageError("there is no terminal to ask at")
        }
        let text = answer.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        return String(decoding: ConfigLine.trimmed(text[...].utf8), as: UTF8.self)
    }

    // MARK: The profile

    private func draft(_ name: String, _ proposal: LoginProposal) throws -> ProfileDraft {
        var draft = ProfileDraft(name)
        draft.url = proposal.url
        draft.add(.plugin, Self.plugin)
        for setting in proposal.settings { draft.add(.set, try ProfileAdd.absolute(ProfileFlag(.set, setting, line: 0))) }
        for (flag, value) in arguments.typed where flag != .set {
            guard let known = Flag.all.first(where: { $0.name == flag }), known.isInProfiles, known.locatesLogin else { continue }
            draft.add(flag, try ProfileAdd.absolute(ProfileFlag(flag, value, line: 0)))
        }
        return draft
    }

    private func withoutTerminal(_ draft: ProfileDraft) throws -> SiteLoginError {
        var words = ["nevod-host", "profile", "add", ShellWord.quoted(draft.name)]
        if let url = draft.url { words += ["--url", ShellWord.quoted(url)] }
        for flag in draft.flags {
            guard let known = Flag.all.first(where: { $0.name == flag.name }) else { continue }
            words.append("--\(known.long)")
            if known.value != nil { words.append(ShellWord.quoted(flag.value)) }
        }
        return SiteLoginError(
            "there is no terminal to ask at; --yes logs in with these settings and writes the profile; to write the profile only: "
                + words.joined(separator: " "), exitCode: ExitCode.unanswered)
    }

    private func logIn(_ draft: ProfileDraft, _ add: ProfileAdd) async throws {
        let profile = try add.profile(draft)
        // The profile already has the settings of --set.
        let login = arguments.with(operands: [], without: .set).merging(profile, folder: ConfigFile.folder)
        var isWritten = false
        do {
            try await LoginCommand(arguments: login, console: console, session: session).logIn {
                try add.save(draft)
                isWritten = true
                console.inform(
                    "added \(draft.name) to \(add.writer.path); use it: nevod-host --profile \(ShellWord.quoted(draft.name)) /")
            }
        } catch {
            if !isWritten {
                console.inform(
                    "no profile was written; --set NAME=VALUE changes a setting, and --set preset=none leaves the preset out")
            }
            throw error
        }
    }
}

/// Reports a page that doesn't show how its site logs in. The text says why, and the way out.
struct SiteLoginError: Error, CustomStringConvertible {
    let description: String
    let exitCode: Int32

    init(_ description: String, exitCode: Int32 = ExitCode.authorization) {
        self.description = description
        self.exitCode = exitCode
    }

    /// The way out if a person has to find the settings.
    static let byHand = "write the settings: nevod-host profile add NAME --plugin \(SiteLogin.plugin) --set login=URL"
}

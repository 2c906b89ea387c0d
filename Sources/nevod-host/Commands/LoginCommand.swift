import NevodHost
import NevodSupport

/// `login`: logs in and keeps the session for later commands.
struct LoginCommand {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    func run() async throws {
        guard arguments.operands.isEmpty else {
            return try await SiteLogin(arguments: arguments, console: console, session: session).run()
        }
        for name in [Flag.Name.yes, .profileName] where arguments.has(name) {
            throw UsageError("\(name.spelling) is for a login with a URL: nevod-host login URL \(name.spelling)")
        }
        try await logIn()
    }

    /// Logs in with the plugin of the arguments, and keeps the session.
    ///
    /// - Parameter succeeded: called after the login, and before its session is stored. If it throws, the session isn't stored.
    func logIn(_ succeeded: () throws -> Void = {}) async throws {
        guard !arguments.has(.origin) || arguments.profile == nil else {
            throw UsageError("login takes no --origin with a profile; write a line origins = URL into the profile")
        }
        let scheme = try PluginLoader(arguments: arguments, console: console).scheme("login")
        let login = try SchemeLogin(arguments: arguments, console: console, session: session, scheme: scheme)
        let store = try login.store()
        let storage = try await store.openOrCreate()
        defer { login.givenAnswers.warnAboutUnused() }
        let (name, token, _) = try await login.logIn()
        try succeeded()
        try await login.keep(token, name, in: storage)
        var words = "logged in"
        if !token.account.isEmpty { words += " as \(TerminalText.safe(token.account))" }
        words += " with \"\(scheme.instance.scheme.title)\""
        if !name.origins.isEmpty { words += " at \(name.origins.joined(separator: ", "))" }
        if !name.furtherOrigins.isEmpty { words += ", for \(name.furtherOrigins.joined(separator: ", "))" }
        words += token.expiresAt.map { ", until \(StoredSession.text(of: $0))" } ?? ""
        // The user chooses the name in `--account`. It may differ from the account that logged in.
        let account = name.account == token.account ? "" : " as the account \"\(TerminalText.safe(name.account))\""
        try output("\(words)\nkept\(account) in \(store.path), sealed by \(store.seal(of: storage))")
    }
}

import NevodHost
import NevodSupport

/// Checks a profile without sending anything: its URL, its flags, its plugin with the settings, and the sources of its secrets.
struct ProfileCheck {
    let file: ConfigFile
    let profile: Profile
    let console: Console
    /// Secrets by source, for sources that don't exist yet.
    var known: [String: Secret] = [:]

    /// Returns the problems, in the order of the file.
    func problems() -> [any Error] {
        var problems: [any Error] = []
        let attempt = { (work: () throws -> Void) in do { try work() } catch { problems.append(error) } }
        attempt { try checkURL() }
        guard let arguments = try? arguments() else { return problems }
        attempt { try checkRequest(arguments) }
        attempt { try checkSources(arguments) }
        attempt { try checkPlugin(arguments) }
        return problems
    }

    /// Returns a problem's text, with its line in the file.
    func text(of problem: any Error) -> String {
        let place = (try? arguments())?.place(of: problem) ?? ""
        return place + (problem is ConfigError || !place.isEmpty ? "\(problem)" : "\(file.path):\(profile.line): \(problem)")
    }

    private func arguments() throws -> Arguments { try Arguments([]).merging(profile, folder: folder) }

    private var folder: String { file.path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } }

    private func checkURL() throws {
        guard let url = profile.baseURL else { return }
        let origin: Origin
        do { origin = try HTTPRequest(.get, url).origin } catch {
            throw ConfigError(file.path, profile.baseLine, "\(error)")
        }
        guard origin.isAuthentic else {
            throw ConfigError(
                file.path, profile.baseLine, "url is not https, so credentials would be sent unencrypted; write https://")
        }
    }

    private func checkRequest(_ arguments: Arguments) throws {
        let builder = SessionBuilder(arguments: arguments)
        _ = try builder.configuration()
        _ = try builder.options()
        _ = try builder.maxFileSize()
        _ = try SchemeParameters(arguments)
        for name in [Flag.Name.caFile, .certificate, .key] {
            guard let path = arguments.value(name) else { continue }
            try SubjectError.adding(.flag(name)) { _ = try readFile(path, limit: 16 << 20) }
        }
    }

    private func checkSources(_ arguments: Arguments) throws {
        let sources = SecretSource(console: console)
        if let user = arguments.value(.user), SecretSource.isSource(user), user != "-" {
            _ = try SubjectError.adding(.flag(.user)) { try sources.read(user, what: "-u") }
        }
        for answer in arguments.values(.answer) {
            let parts = answer.split(separator: "=", maxSplits: 1).map(String.init)
            // Other sources aren't read: a file may be a pipe for a later code, and a command may print another code each time.
            guard parts.count == 2, let kind = SecretSource.Kind(of: parts[1]), kind == .env || kind == .keyring else { continue }
            _ = try SubjectError.adding(.part(.answer, parts[0])) {
                try sources.read(parts[1], what: "the answer \"\(parts[0])\"")
            }
        }
    }

    private func checkPlugin(_ arguments: Arguments) throws {
        guard let name = arguments.value(.plugin) else {
            for flag in Flag.all where flag.needsPlugin && profile.flags.contains(where: { $0.name == flag.name }) {
                throw UsageError("--\(flag.long) needs a --plugin")
            }
            return
        }
        let scheme = try PluginLoader.load(name).scheme(arguments.value(.scheme))
        var source = SettingSource(scheme: scheme, console: console)
        source.known = known
        source.asks = false
        let (settings, places) = try source.settings(arguments.values(.set))
        let isAsked = scheme.settings.contains { $0.isRequired && $0.isSecret && !settings.contains($0.name) }
        // A secret that is asked for each time can't be checked.
        guard !isAsked else { return }
        do throws(PluginError) { _ = try scheme.makeInstance(settings: settings) } catch { throw places.naming(error) }
    }
}

import NevodHost
import NevodSupport

/// `profile remove`: removes a profile, and the secrets that only this profile uses.
struct ProfileRemoval {
    let console: Console
    let writer: ConfigWriter

    /// - Parameter asks: whether to ask for confirmation at the terminal.
    func remove(_ name: String, asks: Bool) throws {
        let file = try Self.existing(try ConfigFile.load(path: writer.path), writer.path)
        let profile = try file.profile(name)
        let own = ownSources(of: profile, in: file)
        var sources = own.filter { SecretPlace(of: $0, in: name) != nil }
        if asks { try confirm(name, sources) }
        try writer.change { file, text in
            let file = try Self.existing(file, writer.path)
            // The file may have changed since the question. A secret that the question didn't name stays.
            let now = ownSources(of: try file.profile(name), in: file)
            sources.removeAll { !now.contains($0) }
            if file.defaultName == name { text.setDefault(nil) }
            text.remove(name)
        }
        for source in sources {
            do { try SecretPlace(of: source, in: name)?.remove(source, configFolder: writer.folder) } catch {
                console.warning("\(source) is not removed: \(error)")
            }
        }
        try output((["removed \(name)"] + sources.map { "removed its secret \($0)" }).joined(separator: "\n"))
        for source in own where source.hasPrefix("keyring:") && SecretPlace(of: source, in: name) == nil {
            console.inform(
                "\(source) stays, because its name doesn't begin with \(name)/; to remove it: secret-tool clear application "
                    + "\(SecretSource.application) name \(ShellWord.quoted(String(source.dropFirst(8))))")
        }
        if file.defaultName == name {
            console.inform("there is no default profile now; nevod-host profile default NAME chooses one")
        }
        if profile.plugin != nil {
            console.inform("its sessions, if it has any, stay until they are forgotten: see nevod-host sessions")
        }
    }

    private func confirm(_ name: String, _ sources: [String]) throws {
        let also =
            sources.isEmpty ? "" : ", and its \(sources.count == 1 ? "secret" : "secrets") \(sources.joined(separator: ", "))"
        guard let answer = try Terminal.askLine("Remove the profile \(name)\(also)? (y/N) ") else {
            throw UsageError(
                "there is no terminal to ask whether to remove \"\(name)\"; write --force to remove it without asking")
        }
        guard ["y", "yes"].contains(answer.lowercased()) else { throw UsageError("nothing is removed") }
    }

    /// Returns the sources of secrets that only this profile uses.
    private func ownSources(of profile: Profile, in file: ConfigFile) -> [String] {
        let sources = { (profile: Profile) in profile.flags.compactMap { $0.source.map(String.init) } }
        let identity = { SecretPlace.identity(of: $0, configFolder: writer.folder) }
        let others = Set(file.profiles.filter { $0.name != profile.name }.flatMap(sources).map(identity))
        var own: [String] = []
        for source in sources(profile) where !others.contains(identity(source)) && !own.contains(source) { own.append(source) }
        return own
    }

    static func existing(_ file: ConfigFile?, _ path: String) throws -> ConfigFile {
        guard let file else { throw UsageError("there is no config file yet; nevod-host profile add writes \(path)") }
        return file
    }
}

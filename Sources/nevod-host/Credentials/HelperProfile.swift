import NevodHost
import NevodSupport

/// Chooses the profile for a server that another program names, so that no credential is given for a server it is not meant for.
enum HelperProfile {
    /// Returns the arguments with the profile that is for the server: the one given; or else the only one; of several, that of
    /// `NEVOD_PROFILE` or the default. Nil if there is none.
    ///
    /// - Parameter url: of the server.
    static func arguments(_ arguments: Arguments, for url: String, _ console: Console) throws -> Arguments? {
        guard hasPlainAuthority(url), let origin = try? Origin(ofURL: url) else { return nil }
        let added = try CredentialScope(arguments).added()
        if let profile = arguments.profile { return (profile.origins + added).contains(origin) ? arguments : nil }
        // A credential that is typed names no server, and the profile of any would take it there.
        guard ![Flag.Name.plugin, .set, .user, .bearer].contains(where: arguments.has) else {
            guard !added.isEmpty else {
                throw UsageError(
                    "credential needs a --profile, whose url says for which server the credential is, or --origin URL")
            }
            return added.contains(origin) ? arguments : nil
        }
        guard arguments.value(.profile) != ProfileSelection.none, let file = try file() else { return nil }
        let found = file.profiles.filter { $0.origins.contains(origin) }
        let preferred = [trustedEnvironment("NEVOD_PROFILE"), file.defaultName].compactMap { $0 }
        let chosen = found.count > 1 ? preferred.compactMap { name in found.first { $0.name == name } }.first : found.first
        if let chosen {
            console.trace("*", "profile \(chosen.name): it is for \(origin)")
            return arguments.merging(chosen, folder: ConfigFile.folder)
        }
        guard found.count > 1 else { return nil }
        let names = found.map { TerminalText.safe($0.name) }.joined(separator: ", ")
        throw UsageError("several profiles are for \(origin): \(names); choose one with --profile")
    }

    /// Whether host and port are nothing that another program could read as those of another server: `h#.evil.example`, or `u@h`.
    static func hasPlainAuthority(_ url: String) -> Bool {
        let bytes = url.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst()
        guard bytes.starts(with: "//".utf8) else { return false }
        return bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }.allSatisfy { byte in
            byte > 0x20 && byte != 0x7F && !"?#@\\%".utf8.contains(byte)
        }
    }

    /// All profiles; none without a config file.
    static func profiles() throws -> [Profile] { try file()?.profiles ?? [] }

    private static func file() throws -> ConfigFile? { try ConfigFile.defaultPath().flatMap { try ConfigFile.load(path: $0) } }
}

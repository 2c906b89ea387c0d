import NevodHost
import NevodSupport

/// Chooses the profile for a server that another program names, so that no server gets a credential that isn't meant for it.
enum HelperProfile {
    /// Returns the arguments with the profile for the server: the given profile, or else the only one that fits. If several fit,
    /// chooses the profile of `NEVOD_PROFILE` or the default. Nil if no profile fits.
    ///
    /// - Parameter url: the server's URL.
    static func arguments(_ arguments: Arguments, for url: String, _ console: Console) throws -> Arguments? {
        guard hasPlainAuthority(url), let origin = try? Origin(ofURL: url) else { return nil }
        let added = try CredentialScope(arguments).added()
        if let profile = arguments.profile { return (profile.origins + added).contains(origin) ? arguments : nil }
        // A typed credential names no server. A profile chosen by the server would send it to any server that asks.
        guard ![Flag.Name.plugin, .set, .user, .bearer].contains(where: arguments.has) else {
            guard !added.isEmpty else {
                throw UsageError(
                    "credential needs a --profile with the url of the server, or --origin URL")
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

    /// Whether no other program could read the host and port as another server's, as it could in `h#.evil.example` or `u@h`.
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

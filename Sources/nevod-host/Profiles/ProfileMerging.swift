import NevodHost
import NevodSupport

extension Arguments {
    /// Adds a profile's flags before the command line's, which therefore win. Resolves relative URLs against the profile's base.
    ///
    /// - Parameters:
    ///   - folder: the config file's folder. The profile's paths are relative to it.
    ///   - joins: whether a relative operand is appended to the profile's base.
    func merging(_ profile: Profile, folder: String, joining joins: (String) -> Bool = { _ in true }) -> Arguments {
        var kept = profile
        kept.flags = profile.flags(for: command).filter { !replaces($0) }
        kept.otherFlags = profile.flags.filter { given in !Flag.flags(of: command).contains { $0.name == given.name } }
        let name = has(.profile) ? [] : [(name: Flag.Name.profile, value: profile.name)]
        var merged = Arguments(
            command, name + kept.flags.map { ($0.name, $0.resolved(in: folder)) } + flags, typed: typed,
            command.operandKind == .url ? operands.map { joins($0) ? profile.url(for: $0) : $0 } : operands, shorthands,
            laterGroups: laterGroups.map { $0.merging(profile, folder: folder, joining: joins) }, fileWarnings: fileWarnings,
            undone: undone)
        merged.recording = recording
        merged.profile = kept
        return merged
    }

    /// Whether the command line removes or replaces a profile's flag. Without the profile's plugin, flags for the plugin mean
    /// nothing.
    private func replaces(_ given: ProfileFlag) -> Bool {
        if undone.contains(given.name) { return true }
        if undone.contains(.plugin), !has(.plugin), Flag.all.contains(where: { $0.name == given.name && $0.needsPlugin }) {
            return true
        }
        // The password is for the profile's proxy only.
        if given.name == .proxyUser, undone.contains(.proxy) || typed.contains(where: { $0.name == .proxy }) { return true }
        guard let key = given.key else { return false }
        return typed.contains { ProfileFlag($0.name, $0.value, line: 0).key == key }
    }
}

extension ProfileFlag {
    /// Names the part of a repeatable flag: a setting, a parameter, or a header in lower case. A typed value replaces all of a
    /// profile's values for the part. Nil for other flags, and for a header flag that names a file of lines.
    var key: String? {
        switch name {
        case .set, .param:
            value.utf8.firstIndex(of: UInt8(ascii: "=")).map { "\(name) \(value[..<$0])" }
        case .header where !value.hasPrefix("@"):
            "\(name) "
                + String(decoding: value.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }, as: UTF8.self)
                .lowercased()
        default: nil
        }
    }
}

import NevodHost
import NevodSupport

/// `profile show`: prints a profile without its secrets, with the line of each entry.
struct ProfileReport {
    private let file: ConfigFile
    private let profile: Profile
    /// The names of settings that are known not to be secret. Empty if the plugin can't be loaded.
    private let plainSettings: Set<String>

    init(_ file: ConfigFile, _ name: String) throws {
        self.file = file
        profile = try file.profile(name)
        let scheme = profile.flags.last { $0.name == .scheme }?.value
        let settings = profile.plugin.flatMap { try? PluginLoader.load(HomeFolder.expanding($0)) }.flatMap {
            try? $0.scheme(scheme)
        }
        let given = profile.flags.filter { $0.name == .set }.map { $0.resolved(in: ConfigFile.folder) }
        let preset = settings.flatMap {
            try? SettingSource(scheme: $0, console: Console(isSilent: true, verbosity: .none)).preset(given)
        }
        plainSettings = Set((settings?.settings ?? []).filter { !$0.isSecret }.map(\.name))
            .union(preset.map { [SchemePreset.settingName] + $0.placeholders.map(\.name) } ?? [])
    }

    private struct Entry {
        let key: String
        /// Nil for a flag without a value.
        let value: String?
        let line: Int
    }

    private var entries: [Entry] {
        let url = profile.baseURL.map { [Entry(key: "url", value: ShownURL.text($0), line: profile.baseLine)] } ?? []
        return url
            + profile.flags.map { flag in
                let known = Flag.all.first { $0.name == flag.name }
                return Entry(key: known?.long ?? "", value: known?.value == nil ? nil : shown(flag), line: flag.line)
            }
    }

    func write(asJSON: Bool) throws {
        if asJSON {
            let json = JSON.object([
                ("name", .string(profile.name)), ("path", .string(file.path)), ("line", .number(profile.line)),
                ("default", .bool(file.defaultName == profile.name)),
                (
                    "entries",
                    .array(
                        entries.map { entry in
                            .object([
                                ("name", .string(entry.key)), ("value", entry.value.map(JSON.string) ?? .null),
                                ("line", .number(entry.line)),
                            ])
                        })
                ),
            ])
            return try output(json.text)
        }
        let rows = entries.map { ["\($0.line)", $0.key, $0.value.map { TerminalText.safe($0) } ?? ""] }
        let title = "[\(TerminalText.safe(profile.name))] in \(file.path), line \(profile.line)"
        try output(
            title + (file.defaultName == profile.name ? ", the default" : "")
                + (rows.isEmpty ? "" : "\n" + Columns.text(rows)))
    }

    private static let hidden = "(a text, not shown)"

    /// Returns the value, unless it may hold a secret. Sources and values known to be plain are shown.
    private func shown(_ flag: ProfileFlag) -> String {
        if let source = flag.source {
            let isPlain = SecretSource.isSource(String(source)) || flag.name == .storeKey || isPlainText(flag)
            return isPlain ? flag.value : flag.value[..<source.startIndex] + Self.hidden
        }
        switch flag.name {
        case .header:
            let name = String(flag.value.unicodeScalars.prefix { $0 != ":" && $0 != ";" })
            return flag.value.hasPrefix("@") ? flag.value : "\(name): \(Self.hidden)"
        case .data, .dataASCII, .dataBinary, .dataURLEncode, .jsonData, .form, .urlQuery:
            return flag.value.hasPrefix("@") ? flag.value : Self.hidden
        case .dataRaw, .formString: return Self.hidden
        case .cookie: return flag.value.utf8.contains(UInt8(ascii: "=")) ? Self.hidden : flag.value
        case .proxy, .store: return ShownURL.text(flag.value)
        default: return flag.value
        }
    }

    private func isPlainText(_ flag: ProfileFlag) -> Bool {
        switch flag.name {
        case .user: !flag.value.utf8.contains(UInt8(ascii: ":"))
        case .set: plainSettings.contains(String(flag.value.prefix { $0 != "=" }))
        default: false
        }
    }
}

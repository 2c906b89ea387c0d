import NevodHost
import NevodPluginChecks
import NevodSupport

/// `inspect`: prints what a plugin offers.
struct InspectCommand {
    let arguments: Arguments

    func run() throws {
        guard let name = arguments.operands.first, arguments.operands.count == 1 else {
            throw UsageError("inspect needs one plugin: nevod-host inspect NAME")
        }
        let path = try PluginLocator.standard.find(name)
        // Reading the file runs none of the plugin's code, so this process can do it.
        try Plugin.checkBeforeLoading(path)
        let runner = CheckRunner(CheckRunner.Options(path: path, timeout: Self.timeout, seed: 0))
        switch try runner.inspect(asJSON: arguments.has(.json)) {
        case .text(let text): try output(text)
        case .refused(let reason), .died(let reason): throw UninspectablePluginError(description: reason)
        }
    }

    /// The timeout for loading a plugin, in seconds.
    private static let timeout = 10

    /// Returns the text to print. Runs in the process that has loaded the plugin.
    static func text(of plugin: Plugin, asJSON: Bool) -> String { asJSON ? json(plugin).text : text(plugin) }

    private static func text(_ plugin: Plugin) -> String {
        var lines = [
            "\(plugin.name) \(plugin.version)\(plugin.vendor.isEmpty ? "" : " by \(plugin.vendor)")", "  \(plugin.path)",
        ]
        for scheme in plugin.schemes {
            lines += ["", "scheme \(scheme.id): \(scheme.title)"]
            if scheme.hasFlows { lines.append("  logs in\(scheme.isInteractive ? ", and asks a person" : "")") }
            if scheme.blocks { lines.append("  may wait, for a device or another program") }
            lines += declarations(scheme.settings, flag: "--set")
            lines += declarations(scheme.parameters, flag: "--param")
            lines += presets(of: scheme)
        }
        for refused in plugin.refusedSchemes {
            lines += ["", "scheme \(refused.id): can't be used", "  \(refused.reason.explanation)"]
        }
        return lines.joined(separator: "\n")
    }

    private static func declarations(_ settings: [SchemeSetting], flag: String) -> [String] {
        let width = settings.map(\.name.count).max() ?? 0
        return settings.map { setting in
            "  \(flag) \(setting.name.padded(to: width))  \(setting.help) (\(properties(of: setting).joined(separator: ", ")))"
        }
    }

    /// Returns a line for each preset, or only the names if so many lines would hide the settings.
    private static func presets(of scheme: Scheme) -> [String] {
        let names = SchemePreset.names(for: scheme)
        let isShort = names.count > PresetError.mostListed
        let width = isShort ? 0 : names.map(\.count).max() ?? 0
        let flag = "  --set \(SchemePreset.settingName)="
        let lines = names.compactMap { name -> String? in
            let start = "\(flag)\(name.padded(to: width))  "
            do throws(PresetError) {
                let preset = try SchemePreset.named(name, for: scheme)
                guard !isShort else { return nil }
                let needed = preset.placeholders.map(\.name).joined(separator: ", ")
                return start + TerminalText.safe(preset.title) + (needed.isEmpty ? "" : " (needs \(needed))")
            } catch { return start + "can't be used: \(error)" }
        }
        guard isShort else { return lines }
        return [
            "\(flag)NAME, one of \(names.count); nevod-host help presets says what each is for:",
            TextLayout(width: 80).paragraph(names.joined(separator: ", "), indent: 4),
        ] + lines
    }

    private static func properties(of setting: SchemeSetting) -> [String] {
        var properties = [setting.kind == .choice ? "one of \(setting.choices.joined(separator: ", "))" : setting.kind.name]
        if setting.isRequired { properties.append("required") }
        if setting.isSecret { properties.append("secret") }
        if setting.isRepeatable { properties.append("repeatable") }
        if setting.namesIssuer { properties.append("issuer") }
        if setting.mayBeRelative { properties.append("may be relative") }
        if let value = setting.defaultValue { properties.append("default \(value)") }
        return properties
    }

    private static func json(_ plugin: Plugin) -> JSON {
        .object([
            ("name", .string(plugin.name)), ("version", .string(plugin.version)), ("vendor", .string(plugin.vendor)),
            ("path", .string(plugin.path)),
            (
                "schemes",
                .array(
                    plugin.schemes.map { scheme in
                        .object([
                            ("id", .string(scheme.id)), ("title", .string(scheme.title)),
                            ("logs_in", .bool(scheme.hasFlows)), ("interactive", .bool(scheme.isInteractive)),
                            ("blocks", .bool(scheme.blocks)),
                            ("settings", .array(scheme.settings.map(json))),
                            ("parameters", .array(scheme.parameters.map(json))),
                            ("presets", .array(SchemePreset.names(for: scheme).map { json($0, of: scheme) })),
                        ])
                    })
            ),
            (
                "refused_schemes",
                .array(
                    plugin.refusedSchemes.map { refused in
                        .object([("id", .string(refused.id)), ("reason", .string(refused.reason.explanation))])
                    })
            ),
        ])
    }

    private static func json(_ preset: String, of scheme: Scheme) -> JSON {
        do throws(PresetError) {
            let preset = try SchemePreset.named(preset, for: scheme)
            return .object([
                ("name", .string(preset.name)), ("title", .string(preset.title)), ("path", .string(preset.path)),
                (
                    "needs",
                    .array(preset.placeholders.map { .object([("name", .string($0.name)), ("help", .string($0.help))]) })
                ),
            ])
        } catch { return .object([("name", .string(preset)), ("problem", .string("\(error)"))]) }
    }

    private static func json(_ setting: SchemeSetting) -> JSON {
        .object([
            ("name", .string(setting.name)), ("kind", .string("\(setting.kind)")), ("required", .bool(setting.isRequired)),
            ("secret", .bool(setting.isSecret)), ("repeatable", .bool(setting.isRepeatable)),
            ("issuer", .bool(setting.namesIssuer)), ("relative", .bool(setting.mayBeRelative)),
            ("choices", .array(setting.choices.map(JSON.string))),
            ("default", setting.defaultValue.map(JSON.string) ?? .null), ("help", .string(setting.help)),
        ])
    }
}

/// Reports a plugin that can't be inspected, in the words of the process that tried.
struct UninspectablePluginError: Error, CustomStringConvertible {
    let description: String
}

internal import NevodHost
internal import NevodPluginABI
internal import NevodSupport

// Checks of what a plugin's tables say about its settings and parameters.

extension CheckCatalogue {
    static let settingDescriptionChecks: [Check] = [
        tables("description.settings", "Settings and parameters have complete tables of known kinds") { plugin in
            plugin.schemes.flatMap(tableProblems)
        } fix: {
            "Set struct_size, a kind NEVOD_SETTING_… and only the flags of the header; count only what the array holds."
        },
        settings("description.setting-names", "The names of settings are well-formed and distinct") { scheme, settings in
            let names = settings.map { $0.name.text ?? "(not UTF-8)" }
            return names.filter { !isIdentifier($0) }.map { "\(scheme): \"\($0)\" is not a valid name." }
                + repeated(names).map { "\(scheme): \"\($0)\" occurs twice." }
        } fix: {
            "Use a-z, 0-9 and '-', beginning with a letter, at most \(NEVOD_LIMIT_NAME) bytes."
        },
        settings("description.help", "Each setting has a help text of one line", isWarning: true) { scheme, settings in
            settings.compactMap { setting in
                guard let help = setting.help.text else { return nil }
                if help.isEmpty { return "\(scheme): \(name(setting)) has no help." }
                return help.hasSuffix(".") ? "\(scheme): the help of \(name(setting)) ends with a full stop." : nil
            }
        } fix: {
            "Say in one line, without a full stop, what the setting is and where a user finds it."
        },
        settings("description.help-text", "Help texts are plain UTF-8") { scheme, settings in
            settings.flatMap { setting in
                textProblems(setting.help, "\(scheme): the help of \(name(setting))", mayBeEmpty: true)
            }
        } fix: {
            "Use UTF-8 without control characters, at most \(NEVOD_LIMIT_TEXT) bytes."
        },
        settings("description.secrets", "Settings that look like secrets are declared as such", isWarning: true) {
            scheme, settings in
            settings.filter { $0.flags & UInt32(NEVOD_SETTING_SECRET) == 0 && looksSecret($0) }
                .map { "\(scheme): \(name($0)) is not NEVOD_SETTING_SECRET." }
        } fix: {
            "Add NEVOD_SETTING_SECRET, so that the value is never taken from a command line or shown; or choose another name."
        },
        settings("description.defaults", "Default values are valid for their kinds") { scheme, settings in
            settings.compactMap { setting in
                guard setting.default_value.count > 0 else { return nil }
                guard let value = setting.default_value.text, !value.utf8.contains(where: \.isControl) else {
                    return "\(scheme): the default of \(name(setting)) is not plain UTF-8."
                }
                if setting.flags & UInt32(NEVOD_SETTING_SECRET) != 0 {
                    return "\(scheme): \(name(setting)) is secret, but has a default."
                }
                return problem(with: value, for: setting).map {
                    "\(scheme): the default of \(name(setting)), \"\(value)\", \($0)."
                }
            }
        } fix: {
            "Give a value that the kind allows, or none."
        },
        settings("description.choices", "A setting has choices if and only if its kind is a choice") { scheme, settings in
            settings.flatMap { setting -> [String] in
                let isChoice = setting.kind == Int32(NEVOD_SETTING_CHOICE)
                guard setting.choice_count > 0 else { return isChoice ? ["\(scheme): \(name(setting)) has no choices."] : [] }
                guard isChoice else { return ["\(scheme): \(name(setting)) has choices, but is not a NEVOD_SETTING_CHOICE."] }
                guard setting.choice_count <= UInt32(NEVOD_LIMIT_SETTINGS), let choices = setting.choices else {
                    return [
                        "\(scheme): \(name(setting)) has \(setting.choice_count) choices, but no table, or more than \(NEVOD_LIMIT_SETTINGS)."
                    ]
                }
                let texts = (0..<Int(setting.choice_count)).map { choices[$0] }
                return texts.flatMap { textProblems($0, "\(scheme): a choice of \(name(setting))") }
                    + repeated(texts.compactMap(\.text)).map { "\(scheme): \(name(setting)) has the choice \"\($0)\" twice." }
            }
        } fix: {
            "List each choice once, and only for NEVOD_SETTING_CHOICE."
        }.caused(by: "description.settings"),
        settings("description.issuer", "Only a URL is an issuer", isWarning: true) { scheme, settings in
            settings.filter { $0.flags & UInt32(NEVOD_SETTING_ISSUER) != 0 && $0.kind != Int32(NEVOD_SETTING_URL) }
                .map { "\(scheme): \(name($0)) has NEVOD_SETTING_ISSUER, but is not a NEVOD_SETTING_URL." }
        } fix: {
            "Remove the flag, or make the setting a URL."
        },
        settings("description.relative", "Only a URL is relative, and only to another URL", isWarning: true) { scheme, settings in
            let base = settings.contains {
                $0.kind == Int32(NEVOD_SETTING_URL) && $0.flags & UInt32(NEVOD_SETTING_RELATIVE) == 0
            }
            return settings.filter {
                $0.flags & UInt32(NEVOD_SETTING_RELATIVE) != 0 && ($0.kind != Int32(NEVOD_SETTING_URL) || !base)
            }
            .map {
                $0.kind != Int32(NEVOD_SETTING_URL)
                    ? "\(scheme): \(name($0)) has NEVOD_SETTING_RELATIVE, but is not a NEVOD_SETTING_URL."
                    : "\(scheme): \(name($0)) has NEVOD_SETTING_RELATIVE, but every URL setting has it."
            }
        } fix: {
            "Remove the flag, make the setting a URL, or add the URL that it is relative to."
        }.caused(by: "description.parameters"),
        tables("description.parameters", "No parameter of a request is secret or relative") { plugin in
            plugin.schemes.flatMap { scheme in
                readable(scheme.pointee.parameters, scheme.pointee.parameter_count).flatMap { parameter in
                    [(UInt32(NEVOD_SETTING_SECRET), "secret"), (UInt32(NEVOD_SETTING_RELATIVE), "relative")]
                        .filter { parameter.flags & $0.0 != 0 }
                        .map { "\(label(scheme)): the parameter \(name(parameter)) is \($0.1)." }
                }
            }
        } fix: {
            "Make it a setting: parameters are kept with the request and its token."
        },
    ]

    // MARK: Pieces

    private static func settings(
        _ id: String, _ title: String, isWarning: Bool = false,
        _ problems: @escaping @Sendable (_ scheme: String, [nevod_setting]) -> [String], fix: @escaping @Sendable () -> String
    ) -> Check {
        tables(
            id, title, isWarning: isWarning,
            { plugin in
                plugin.schemes.flatMap { scheme in
                    problems(label(scheme), readable(scheme.pointee.settings, scheme.pointee.setting_count))
                        + problems(
                            "\(label(scheme)), parameters", readable(scheme.pointee.parameters, scheme.pointee.parameter_count))
                }
            }, fix: fix)
    }

    private static func name(_ setting: nevod_setting) -> String { "\"\(setting.name.text ?? "?")\"" }

    private static func tableProblems(_ scheme: UnsafePointer<nevod_scheme>) -> [String] {
        let known =
            UInt32(NEVOD_SETTING_REQUIRED) | UInt32(NEVOD_SETTING_SECRET) | UInt32(NEVOD_SETTING_REPEATABLE)
            | UInt32(NEVOD_SETTING_ISSUER) | UInt32(NEVOD_SETTING_RELATIVE)
        var problems: [String] = []
        for (field, tables, count) in [
            ("settings", scheme.pointee.settings, scheme.pointee.setting_count),
            ("parameters", scheme.pointee.parameters, scheme.pointee.parameter_count),
        ] where count > 0 {
            guard count <= UInt32(NEVOD_LIMIT_SETTINGS), let tables else {
                problems.append("\(label(scheme)) has \(count) \(field), but no table, or more than \(NEVOD_LIMIT_SETTINGS).")
                continue
            }
            for index in 0..<Int(count) {
                let place = "\(label(scheme)): \(field)[\(index)]"
                guard let setting = tables[index] else {
                    problems.append("\(place) is NULL.")
                    continue
                }
                let size = UnsafeRawPointer(setting).load(as: UInt32.self)
                guard size >= NEVOD_SETTING_MINIMUM else {
                    problems.append("\(place) has the struct_size \(size), less than \(NEVOD_SETTING_MINIMUM).")
                    continue
                }
                if !(1...5).contains(setting.pointee.kind) { problems.append("\(place) has the kind \(setting.pointee.kind).") }
                let unknown = setting.pointee.flags & ~known
                if unknown != 0 { problems.append("\(place) has the flags 0x\(String(unknown, radix: 16)).") }
            }
        }
        return problems
    }

    /// Whether the name ends with a word for a secret. A key's identifier isn't secret.
    private static func looksSecret(_ setting: nevod_setting) -> Bool {
        guard setting.kind == Int32(NEVOD_SETTING_TEXT), let name = setting.name.text, let last = name.split(separator: "-").last
        else {
            return false
        }
        let words: Set<Substring> = ["password", "passphrase", "secret", "token", "pin"]
        return words.contains(last) || ["secret-key", "private-key"].contains { name == $0 || name.hasSuffix("-\($0)") }
    }

    /// Returns the reason why the host would refuse a setting's value; nil if it accepts the value.
    private static func problem(with value: String, for setting: nevod_setting) -> String? {
        switch Int(setting.kind) {
        case Int(NEVOD_SETTING_INTEGER): return Int64(value) == nil || value.hasPrefix("+") ? "is not an integer" : nil
        case Int(NEVOD_SETTING_BOOLEAN): return value == "true" || value == "false" ? nil : "is neither true nor false"
        case Int(NEVOD_SETTING_URL):
            let path =
                setting.flags & UInt32(NEVOD_SETTING_RELATIVE) == 0 ? nil : URLReference(value).resolved(toPathOf: "https://host")
            return (try? HTTPURL(path ?? value)) == nil ? "is not an absolute http or https URL" : nil
        case Int(NEVOD_SETTING_CHOICE):
            guard let choices = setting.choices, setting.choice_count <= UInt32(NEVOD_LIMIT_SETTINGS) else { return nil }
            return (0..<Int(setting.choice_count)).contains { choices[$0].text == value } ? nil : "is not one of its choices"
        default: return nil
        }
    }
}

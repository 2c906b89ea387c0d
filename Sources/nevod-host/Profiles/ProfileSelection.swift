import NevodHost
import NevodSupport

/// Chooses a command's profile: from `--profile`, or else from `NEVOD_PROFILE`, or else by the URL's origin. A relative URL and a
/// login get the config file's default.
///
/// A profile that was not typed is never used for a URL outside of its origins. `--profile none`, `NEVOD_PROFILE=none` and
/// `--no-profile` choose no profile.
struct ProfileSelection {
    let arguments: Arguments
    let console: Console

    static let none = "none"
    private static let variable = "NEVOD_PROFILE"

    /// Returns the arguments, merged with the chosen profile.
    func merged() throws -> Arguments {
        guard Flag.takes(.profile, arguments.command) else { return arguments }
        if let name = arguments.value(.profile) {
            guard name != Self.none else { return arguments }
            return try merging(try required(file(), "--profile").profile(name), "--profile names it", joining: { _ in true })
        }
        // A login with a URL writes a profile of its own.
        guard arguments.command != .login || arguments.operands.isEmpty else { return arguments }
        // For `credential`, the server that another program names chooses the profile.
        guard arguments.command != .credential else { return arguments }
        return try mergedByDefault()
    }

    /// Returns the arguments, merged with a profile that was not typed.
    func mergedByDefault() throws -> Arguments {
        let named = trustedEnvironment(Self.variable).flatMap { $0.isEmpty ? nil : $0 }
        guard !arguments.undone.contains(.profile), named != Self.none else { return arguments }
        if let named {
            let profile = try required(file(), Self.variable).profile(named, of: Self.variable)
            if isFor(profile) { return try merging(profile, "\(Self.variable) names it") }
            console.trace("*", "the profile \(named) of \(Self.variable) is not for this URL, so it isn't used")
        }
        guard arguments.command.operandKind == .url, arguments.command != .header || !operands.isEmpty else {
            let isAboutSessions = [.sessions, .store].contains(arguments.command)
            guard !isAboutSessions, !arguments.has(.plugin), let file = try file(), let profile = try file.byDefault() else {
                return arguments
            }
            return try merging(profile, "it is the default of \(file.path)")
        }
        return try forURL()
    }

    private func forURL() throws -> Arguments {
        if let operand = operands.first(where: Self.isRelative) {
            guard let file = try file(), let profile = try file.byDefault() else { throw Self.relative(operand) }
            guard isFor(profile) else {
                throw UsageError("these URLs are not all for the default profile, \"\(profile.name)\"; write --profile NAME")
            }
            return try merging(profile, "it is the default of \(file.path)")
        }
        // A typed credential is used instead of a profile's.
        guard !hasCredential, let first = origins.first, let first, let file = try readableFile() else { return arguments }
        let found = file.profiles.filter(isFor)
        guard let profile = found.first(where: { $0.name == file.defaultName }) ?? found.first else { return arguments }
        guard found.count == 1 || profile.name == file.defaultName else {
            console.warning(
                "no profile is used, since \(found.map { "\"\($0.name)\"" }.joined(separator: ", ")) are all for \(first); "
                    + "choose one with --profile, or write --no-profile")
            return arguments
        }
        return try merging(profile, "it is for \(first)")
    }

    /// Reads the file, because one of its profiles may be for the URL. A mistake in it is an error, because the request would
    /// otherwise be sent without the profile's credential.
    private func readableFile() throws -> ConfigFile? {
        do { return try file() } catch let error as ConfigError {
            throw ConfigError(error.path, error.line, "\(error.problem); to do without it, write --no-profile")
        }
    }

    private var hasCredential: Bool {
        ([arguments] + arguments.laterGroups).contains { group in
            group.flags.contains { given in
                Flag.all.contains { $0.name == given.name && $0.isCredential && ![.header, .urlQuery].contains($0.name) }
                    || given.name == .header && given.value.lowercased().hasPrefix("authorization")
            }
        }
    }

    /// The URLs of all groups.
    private var operands: [String] {
        arguments.command.operandKind == .url ? ([arguments] + arguments.laterGroups).flatMap(\.operands) : []
    }

    /// The origins of the absolute URLs; nil for a URL that can't be parsed.
    private var origins: [Origin?] {
        operands.filter { !Self.isRelative($0) }.map { operand in
            try? Origin(ofURL: OperandURL.absolute(operand))
        }
    }

    private func isFor(_ profile: Profile) -> Bool {
        origins.allSatisfy { $0.map(profile.origins.contains) ?? false }
    }

    /// Whether an operand is a relative URL even without a chosen profile. With a typed profile, `orders` is relative too.
    static func isRelative(_ operand: String) -> Bool { operand.hasPrefix("/") || operand.hasPrefix("?") }

    /// Reports a relative URL without a base.
    static func relative(_ operand: String) -> UsageError {
        UsageError(
            "the URL \"\(TerminalText.safe(ShownURL.text(operand)))\" is relative, and no profile is chosen; write a whole URL, or --profile NAME, or set "
                + "\(variable), or choose a default: nevod-host profile default NAME")
    }

    /// - Parameter joins: returns whether an operand is relative.
    private func merging(
        _ profile: Profile, _ reason: String, joining joins: (String) -> Bool = isRelative
    ) throws -> Arguments {
        console.trace("*", "profile \(profile.name): \(reason)")
        if profile.isReadableByOthers { console.warning(warning(aboutReadersOf: profile.path, holdsSecret: false)) }
        if profile.baseURL == nil, let operand = operands.first(where: Self.isRelative) {
            throw ConfigError(
                profile.path, profile.line,
                "the profile \"\(profile.name)\" has no url for the relative URL \"\(TerminalText.safe(ShownURL.text(operand)))\"; add a line "
                    + "below this one: url = https://HOST")
        }
        return arguments.merging(profile, folder: ConfigFile.folder, joining: joins)
    }

    private func file() throws -> ConfigFile? {
        guard let path = ConfigFile.defaultPath(), let file = try ConfigFile.load(path: path) else { return nil }
        return file
    }

    private func required(_ file: ConfigFile?, _ chosenBy: String) throws -> ConfigFile {
        if let file { return file }
        guard let path = ConfigFile.defaultPath() else {
            throw UsageError(
                "\(chosenBy) needs a config file, and there is no home directory for one; set HOME or XDG_CONFIG_HOME")
        }
        throw UsageError("there is no config file for \(chosenBy); nevod-host profile add writes \(path)")
    }
}

extension ConfigFile {
    /// The folder of the config file; empty without a home directory.
    static var folder: String {
        guard let path = defaultPath(), let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return String(path[..<slash])
    }

    func byDefault() throws(ConfigError) -> Profile? {
        if let defaultName { try profile(defaultName) } else { nil }
    }

    /// - Parameter variable: the environment variable that holds the name, for messages.
    fileprivate func profile(_ name: String, of variable: String) throws(ConfigError) -> Profile {
        do throws(ConfigError) { return try profile(name) } catch {
            throw ConfigError(path, nil, "\(error.problem) (\(variable) names it)")
        }
    }
}

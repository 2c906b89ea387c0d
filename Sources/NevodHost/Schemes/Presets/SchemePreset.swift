internal import NevodSupport

/// Settings of a scheme that are the same for everybody who uses a service: its addresses, and what it needs beyond the standard.
///
/// ```swift
/// let scheme = try Plugin(named: "OAuth2Auth").scheme()
/// let settings = try SchemePreset.named("github", for: scheme).settings(["client-id": "0123"])
/// let instance = try scheme.makeInstance(settings: settings)
/// ```
///
/// A preset is a file of lines `name = value`, and holds no secrets. It may have placeholders for parts that differ between
/// customers, such as a domain.
public struct SchemePreset: Sendable {
    /// A part of a preset's values that each user gives, such as the domain of an organization.
    public struct Placeholder: Sendable, Hashable {
        /// The name under which ``SchemePreset/settings(_:)`` takes its value.
        public let name: String
        /// The line of help for a person.
        public let help: String
    }

    /// The name that selects a preset among settings: `preset=github`. A scheme that has a setting of this name has no presets.
    package static let settingName = "preset"

    /// The name by which ``named(_:for:locator:)`` finds the preset, such as `github`; for a file, the file's name without
    /// `.preset`.
    public let name: String
    /// Its purpose, as stated in its first line.
    public let title: String
    /// The parts that ``settings(_:)`` needs values for, in the order of the file.
    public let placeholders: [Placeholder]
    /// The canonical path of its file.
    public let path: String
    private let scheme: String
    let lines: [Line]

    /// A line that gives a setting its value.
    struct Line: Sendable {
        let setting: SchemeSetting
        let value: PresetText.Value
        let number: Int
    }

    /// Finds a preset by its name.
    ///
    /// - Parameters:
    ///   - name: such as `github`.
    ///   - scheme: the scheme whose settings it gives.
    ///   - locator: where it is looked up.
    public static func named(
        _ name: String, for scheme: Scheme, locator: PresetLocator = .standard
    ) throws(PresetError) -> SchemePreset {
        guard let path = locator.path(of: name, for: scheme.id) else {
            throw PresetError(name, .unknown(scheme: scheme.id, known: locator.names(for: scheme.id)))
        }
        return try SchemePreset(try PresetText(path: path, mayReadEnvironment: true), name: name, path: path, for: scheme)
    }

    /// Reads the preset in a file.
    ///
    /// Unlike a preset that is found by its name, this preset must not read environment variables, give a setting whose name ends
    /// in `-file`, or name a link-local address, where a cloud tells a machine its identity. Otherwise, a preset from elsewhere
    /// could send such secrets to its author's server.
    ///
    /// - Parameters:
    ///   - path: only root and this user may be able to change it.
    ///   - scheme: declares the settings that the preset may have.
    public static func file(_ path: String, for scheme: Scheme) throws(PresetError) -> SchemePreset {
        guard let canonical = canonicalPath(path) else { throw PresetError(path, .unreadable("there is no such file")) }
        let end =
            canonical.utf8.lastIndex(of: UInt8(ascii: "/")).map { canonical[canonical.utf8.index(after: $0)...] }
            ?? canonical[...]
        let name = end.hasSuffix(PresetLocator.suffix) ? end.dropLast(PresetLocator.suffix.utf8.count) : end
        return try SchemePreset(
            try PresetText(path: canonical, mayReadEnvironment: false), name: String(name), path: canonical, for: scheme,
            isFromElsewhere: true)
    }

    /// The names of the presets for a scheme, sorted.
    public static func names(for scheme: Scheme, locator: PresetLocator = .standard) -> [String] {
        locator.names(for: scheme.id)
    }

    /// - Throws: ``PresetError/Reason/malformed(line:problem:)`` for a line that the scheme can't take.
    init(
        _ text: PresetText, name: String, path: String, for scheme: Scheme, isFromElsewhere: Bool = false
    ) throws(PresetError) {
        self.name = name
        self.path = path
        self.scheme = scheme.id
        title = text.title
        placeholders = text.placeholders.map { Placeholder(name: $0.name, help: $0.help) }
        for placeholder in text.placeholders where scheme.settings.contains(where: { $0.name == placeholder.name }) {
            let problem = "\(placeholder.name) is the name of a setting; choose another one"
            throw PresetError(path, .malformed(line: placeholder.line, problem: problem))
        }
        var lines: [Line] = []
        for entry in text.entries {
            let malformed = { (problem: String) in PresetError(path, .malformed(line: entry.line, problem: problem)) }
            guard let setting = scheme.settings.first(where: { $0.name == entry.name }) else {
                throw malformed("the scheme \"\(scheme.id)\" has no setting \"\(entry.name)\"")
            }
            guard setting.isRepeatable || !lines.contains(where: { $0.setting.name == setting.name }) else {
                throw malformed("\(setting.name) was given in a line above")
            }
            if let problem = Self.problem(with: entry.value, for: setting) { throw malformed("\(setting.name) \(problem)") }
            if isFromElsewhere, let what = Self.grantsAccess(entry.value, for: setting) {
                throw malformed(
                    "\(what) is for presets that are found by their name; put the file into ~/.config/nevod-host/presets/SCHEME, or "
                        + "give \(setting.name) with the other settings")
            }
            lines.append(Line(setting: setting, value: entry.value, number: entry.line))
        }
        self.lines = lines
    }

    /// The names of the settings that the preset gives values for.
    package var settingNames: [String] { lines.map(\.setting.name) }

    // MARK: Values

    /// Checks the value of a placeholder.
    package func check(_ value: String, for placeholder: String) throws(PresetError) {
        guard !PresetText.isPlaceholderValue(value) else { return }
        throw bad(placeholder, "must be letters, digits, and any of . - _ : between them; leave out https:// and a / at the end")
    }

    func value(
        of line: Line, _ values: [String: String], _ environment: (String) -> String?
    ) throws(PresetError) -> SchemeSettings.Value {
        switch line.value {
        case .variable(let variable):
            guard let text = environment(variable) else {
                throw PresetError(name, .unsetVariable(setting: line.setting.name, variable: variable))
            }
            // A platform may name a service of this machine, which has no certificate.
            if !line.setting.isSecret, let problem = Self.problem(withText: text, for: line.setting, allowsLoopback: true) {
                throw PresetError(name, .badValue(name: variable, help: "an environment variable", problem: problem))
            }
            return line.setting.isSecret ? .secret(Secret(text)) : .text(text)
        case .text(let pieces):
            let text = pieces.map { piece in
                switch piece {
                case .literal(let text): text
                case .placeholder(let name): values[name] ?? ""
                }
            }.joined()
            // The lines without placeholders were checked when the file was read.
            if let placeholder = line.value.placeholders.first, Self.problem(withText: text, for: line.setting) != nil {
                throw bad(
                    placeholder,
                    "doesn't make a valid \(line.setting.name) in line \(line.number) of \(TerminalText.safe(path))")
            }
            return .text(text)
        }
    }

    func bad(_ name: String, _ problem: String) -> PresetError {
        let help = placeholders.first { $0.name == name }?.help ?? ""
        return PresetError(self.name, .badValue(name: name, help: help, problem: problem))
    }

    // MARK: Checks

    /// Returns why a setting can't have a value, as far as that can be known without the values of placeholders.
    private static func problem(with value: PresetText.Value, for setting: SchemeSetting) -> String? {
        guard case .text(let pieces) = value else { return nil }
        guard !setting.isSecret else {
            return "is a secret, and a preset holds none; each user gives it with the other settings"
        }
        var start = ""
        if case .literal(let text)? = pieces.first { start = text }
        guard !value.placeholders.isEmpty else { return problem(withText: start, for: setting) }
        // A path begins with one slash, so that no placeholder can turn it into another origin.
        if setting.mayBeRelative, start.utf8.first == UInt8(ascii: "/") { return problem(withText: start, for: setting) }
        return setting.kind == .url && !start.utf8.starts(with: "https://".utf8) ? "must begin with https://" : nil
    }

    /// Returns the part of a line that lets a scheme read a secret of this machine, as words for a message; nil if there is none.
    private static func grantsAccess(_ value: PresetText.Value, for setting: SchemeSetting) -> String? {
        if setting.name.utf8.suffix(5).elementsEqual("-file".utf8) { return setting.name }
        guard setting.kind == .url, case .text(let pieces) = value, case .literal(let text)? = pieces.first,
            (try? HTTPURL(text))?.origin.isLinkLocal == true
        else { return nil }
        return "an address that tells this machine's identity"
    }

    private static func problem(withText text: String, for setting: SchemeSetting, allowsLoopback: Bool = false) -> String? {
        if let problem = setting.problem(with: text) { return problem }
        guard setting.kind == .url, let origin = try? HTTPURL(text).origin, origin.scheme != .https, !origin.isLinkLocal else {
            return nil
        }
        guard !allowsLoopback || !origin.isAuthentic else { return nil }
        return "must begin with https://; http:// is for link-local addresses alone, such as 169.254.169.254"
            + (allowsLoopback ? ", and for this machine" : "")
    }
}

extension SchemePreset: CustomStringConvertible {
    public var description: String { "preset \(name) of \(scheme)" }
}

extension Origin {
    /// Whether its server is reached without a router: 169.254.0.0/16 (RFC 3927). Clouds tell a machine its identity there.
    fileprivate var isLinkLocal: Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "169" && parts[1] == "254"
            && parts.allSatisfy { Int($0).map { $0 < 256 } ?? false }
    }
}

/// Why a preset can't be used. Names the preset, the cause and the way out; holds no value that was given.
public struct PresetError: Error, Sendable {
    /// The kinds of failure, in the order of a preset's use.
    public enum Reason: Sendable {
        /// The scheme has no preset of that name; `known` lists the presets that it has.
        case unknown(scheme: String, known: [String])
        /// The file can't be read, with the system's message.
        case unreadable(String)
        /// A user other than this one and root could change the file or a folder above it; `path` is the one to blame.
        case unsafePermissions(path: String, problem: String)
        /// A line, counted from 1, is invalid; or the file as a whole, if `line` is nil.
        case malformed(line: Int?, problem: String)
        /// Placeholders of the preset have no values.
        case missingValues([SchemePreset.Placeholder])
        /// The value of a placeholder is invalid; `help` is the preset's own line about it.
        case badValue(name: String, help: String, problem: String)
        /// The preset takes a setting from an environment variable that is not set.
        case unsetVariable(setting: String, variable: String)
    }

    /// The preset's name, or the path of its file.
    public let preset: String
    /// The reason, for a program to act on; ``description`` is its text for people.
    public let reason: Reason

    /// How many presets a message lists; more would hide the rest of the message.
    package static let mostListed = 40

    init(_ preset: String, _ reason: Reason) {
        self.preset = preset
        self.reason = reason
    }
}

extension PresetError: CustomStringConvertible {
    public var description: String {
        let name = TerminalText.safe(preset)
        return switch reason {
        case .unknown(let scheme, let known):
            "the scheme \"\(scheme)\" has no preset \"\(name)\"; "
                + (known.isEmpty
                    ? "it has none"
                    : known.count > Self.mostListed
                        ? "it has \(known.count)" : "its presets are \(known.joined(separator: ", "))")
        case .unreadable(let problem): "the preset \(name) can't be read: \(problem)"
        case .unsafePermissions(let path, let problem):
            "the preset \(name) is not used: others could change it, because \(TerminalText.safe(path)) \(problem); fix it with chmod "
                + "or chown"
        case .malformed(let line, let problem): "\(name)\(line.map { ":\($0)" } ?? ""): \(problem)"
        case .missingValues(let missing):
            "the preset \"\(name)\" needs "
                + missing.map { "\"\($0.name)\" (\(TerminalText.safe($0.help)))" }.joined(separator: " and ")
                + " among the settings"
        case .badValue(let value, let help, let problem):
            "\"\(value)\" of the preset \"\(name)\" (\(TerminalText.safe(help))) \(problem)"
        case .unsetVariable(let setting, let variable):
            "the preset \"\(name)\" reads \"\(setting)\" from the environment variable \(variable), which is not set; set it, or give "
                + "the setting"
        }
    }
}

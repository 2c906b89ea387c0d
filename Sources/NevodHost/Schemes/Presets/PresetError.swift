internal import NevodSupport

/// Why a preset can't be used. Names the preset, the cause and the way out; holds no value that was given.
public struct PresetError: Error, Sendable {
    /// The kinds of failure, in the order of a preset's use.
    public enum Reason: Sendable {
        /// The scheme has no preset of that name; `known` has the names of those that it has.
        case unknown(scheme: String, known: [String])
        /// The file can't be read, with the system's message.
        case unreadable(String)
        /// A user other than this one and root could change the file or a folder above it; `path` is the one to blame.
        case unsafePermissions(path: String, problem: String)
        /// A line, from 1, is invalid, or the file as a whole.
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

    /// The presets that a message names; more would hide it.
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

import NevodHost
import NevodSupport

/// A file of flags and URLs (`-K`). It may hold a password, unlike a command line: see ``FileSecrets``.
struct FlagFile {
    let path: String
    let lines: [FlagFileParser.Line]
    private let isReadableByOthers: Bool

    private static let maximumSize = 1 << 20

    /// Reads a file; `-` and a pipe of the shell as they are, and any other file only if no other user may write it.
    init(path: String) throws {
        let bytes: [UInt8]
        if path == "-" || OwnDescriptor.number(of: path) != nil {
            self.path = path == "-" ? "standard input" : path
            bytes = try readFile(path, limit: Self.maximumSize)
            isReadableByOthers = false
        } else {
            self.path = path
            guard let content = try ConfigFile.content(path: path) else { throw InputError(path, 2) }
            (bytes, isReadableByOthers) = content
        }
        lines = try FlagFileParser(path: self.path).lines(bytes)
    }

    /// Gives each line to a function, which gets the flag, and returns a warning about the file, if there is one.
    func read(
        of command: Command, _ add: ((name: Flag.Name, value: String)) throws -> Void
    ) throws -> String? {
        var holdsSecret = false
        for line in lines {
            for flag in try flags(line, command) {
                guard flag.name != .config, flag.name != .debuggable else {
                    throw ConfigError(path, line.number, "\(flag.name.spelling) belongs on the command line")
                }
                if flag.name == .header { FileSecrets.mark(headerLine: flag.value) }
                guard flag.name.takesSecret, FileSecrets.isSecret(flag.value, of: flag.name) else {
                    try add(flag)
                    continue
                }
                holdsSecret = true
                try add((flag.name, FileSecrets.keep(flag.value, of: "\(path):\(line.number)")))
            }
        }
        return holdsSecret && isReadableByOthers ? "\(path) holds a secret, and other users can read it; chmod 600 it" : nil
    }

    private func flags(_ line: FlagFileParser.Line, _ command: Command) throws -> [(name: Flag.Name, value: String)] {
        var rest = line.value.map { [$0][...] } ?? []
        let flags: [(name: Flag.Name, value: String)]
        do throws(UsageError) {
            flags =
                if line.option.hasPrefix("-"), !line.option.hasPrefix("--") {
                    try Arguments.short(line.option, &rest, command)
                } else {
                    [try Arguments.long(line.option.hasPrefix("--") ? line.option : "--\(line.option)", &rest, command)]
                }
        } catch {
            throw ConfigError(path, line.number, error.description)
        }
        guard rest.isEmpty else { throw ConfigError(path, line.number, "\(line.option) takes no value") }
        return flags
    }
}

extension Flag.Name {
    /// Whether a file may hold the flag's value as a text that a command line may not.
    fileprivate var takesSecret: Bool { [.user, .bearer, .proxyUser].contains(self) }
}

import Glibc
import NevodHost
import NevodSupport

/// The config file: profiles, each with flags and a base for relative URLs.
///
///     # ~/.config/nevod/config
///     default = work
///
///     [work]
///     url = https://api.example.com/v1
///     plugin = libHMACAuth.so
///     set = api-key=demo
///     set = secret=env:WORK_SECRET
///     location
struct ConfigFile {
    let path: String
    let profiles: [Profile]
    /// The name of the profile for relative URLs when none is chosen; nil if the file has no default.
    let defaultName: String?
    /// The file's text.
    let bytes: [UInt8]
    /// Whether other users can read the file. That deserves a warning, since a profile may hold confidential values.
    let isReadableByOthers: Bool

    private static let maximumSize = 1 << 20

    /// Returns `$XDG_CONFIG_HOME/nevod/config`, or the same below `~/.config`; nil without a home directory. Ignores a relative
    /// folder (XDG Base Directory Specification).
    static func defaultPath() -> String? {
        if let folder = trustedEnvironment("XDG_CONFIG_HOME"), folder.hasPrefix("/") { return "\(folder)/nevod/config" }
        return trustedEnvironment("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/.config/nevod/config" : nil }
    }

    /// Returns nil if there is no such file.
    static func load(path: String) throws -> ConfigFile? {
        guard let (bytes, isReadableByOthers) = try content(path: path) else { return nil }
        return try ConfigFile(path: path, bytes: bytes, isReadableByOthers: isReadableByOthers)
    }

    /// Reads a regular file that no other user may write; nil if there is no such file.
    static func content(path: String) throws -> (bytes: [UInt8], isReadableByOthers: Bool)? {
        // O_NONBLOCK, so that opening a pipe doesn't wait.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw InputError(path, errno)
        }
        defer { close(descriptor) }
        // Checks the open file, because another file may have the name by now.
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw InputError(path, errno) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw ConfigError(path, nil, "it is not a regular file") }
        guard info.st_size <= maximumSize else { throw ConfigError(path, nil, "it is larger than 1 MiB") }
        try checkOwner(info, path, of: path, at: "/proc/self/fd/\(descriptor)")
        try checkFolder(of: path)
        let bytes = try FileDescriptor(number: descriptor, name: path).readAll(limit: maximumSize)
        return (bytes, info.st_mode & (S_IRGRP | S_IROTH) != 0)
    }

    init(path: String, bytes: [UInt8], isReadableByOthers: Bool = false) throws(ConfigError) {
        self.path = path
        self.isReadableByOthers = isReadableByOthers
        self.bytes = bytes
        let content = try ConfigParser(path: path).content(bytes)
        defaultName = content.defaultName
        profiles = content.profiles.map { profile in
            var profile = profile
            profile.isReadableByOthers = isReadableByOthers
            return profile
        }
    }

    func profile(_ name: String) throws(ConfigError) -> Profile {
        if let profile = profiles.first(where: { $0.name == name }) { return profile }
        let names = profiles.map(\.name)
        let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
        let hint = Suggestions.hint(for: name, among: names)
        throw ConfigError(path, nil, "there is no profile \"\(TerminalText.safe(name))\"\(hint.isEmpty ? "; \(known)" : hint)")
    }

    /// Refuses a file or folder that others can write: it decides which plugin gets the secrets and where they are sent.
    private static func checkOwner(_ info: stat, _ culprit: String, of path: String, at place: String) throws(ConfigError) {
        guard info.st_uid == 0 || info.st_uid == geteuid() else {
            throw ConfigError(path, nil, "\(culprit) belongs to another user (uid \(info.st_uid))")
        }
        // In a folder with the sticky bit, such as /tmp, other users can't replace the file.
        let isSticky = info.st_mode & S_IFMT == S_IFDIR && info.st_mode & S_ISVTX != 0
        let isWritable =
            info.st_mode & S_IWOTH != 0
            || info.st_mode & S_IWGRP != 0 && (!PrivateGroup.isOwn(info.st_gid) || PrivateGroup.mayHaveAccessList(place))
        guard !isWritable || isSticky else {
            throw ConfigError(path, nil, "others may write \(culprit); chmod go-w it")
        }
    }

    /// Checks the file's folder and all folders above it, as for a plugin: a user who can write one of them can replace the file.
    private static func checkFolder(of path: String) throws(ConfigError) {
        guard let canonical = canonicalPath(path), let slash = canonical.utf8.lastIndex(of: UInt8(ascii: "/")) else { return }
        let folder = slash == canonical.startIndex ? "/" : String(canonical[..<slash])
        var info = stat()
        guard stat(folder, &info) == 0 else { return }
        try checkOwner(info, folder, of: path, at: folder)
        guard path.hasPrefix("/"), let (culprit, problem) = PathTrust.problem(along: path, isSearched: false) else { return }
        throw ConfigError(path, nil, "\(culprit), above it, \(problem); only you and root may be able to change it")
    }
}

/// Parses the text of a config file. Errors never contain a value, which may be a secret.
struct ConfigParser {
    let path: String

    func profiles(_ bytes: [UInt8]) throws(ConfigError) -> [Profile] { try content(bytes).profiles }

    /// Returns the profiles, and the name in `default = NAME` above the first section.
    func content(_ bytes: [UInt8]) throws(ConfigError) -> (profiles: [Profile], defaultName: String?) {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw ConfigError(path, nil, "it is not UTF-8") }
        var profiles: [Profile] = []
        var lines: [String: Int] = [:]
        var byDefault: (name: String, line: Int)?
        for line in ConfigLine.lines(of: text) where !line.isComment {
            let number = line.number
            guard !line.hasControl else { throw ConfigError(path, number, "it contains a control character") }
            if line.text.first == UInt8(ascii: "[") {
                let name = try section(line.text, number)
                if let other = lines.updateValue(number, forKey: name) {
                    throw ConfigError(path, number, "the profile \"\(name)\" is already defined in line \(other)")
                }
                profiles.append(Profile(name: name, path: path, line: number))
            } else {
                guard let last = profiles.indices.last else {
                    guard line.name == "default", let name = line.value else {
                        throw ConfigError(path, number, "this is outside a profile; begin one with [NAME]")
                    }
                    guard byDefault == nil else { throw ConfigError(path, number, "the default is already set") }
                    byDefault = (name, number)
                    continue
                }
                try read(line, into: &profiles[last])
            }
        }
        if let byDefault, lines[byDefault.name] == nil {
            let hint = Suggestions.hint(for: byDefault.name, among: profiles.map(\.name))
            throw ConfigError(
                path, byDefault.line, "the default names no profile of this file\(hint.isEmpty ? "; write default = NAME" : hint)"
            )
        }
        return (profiles, byDefault?.name)
    }

    /// Returns the name of the section that a line begins; nil for any other line.
    func sectionName(_ line: String) -> String? {
        let line = trimmed(line.utf8[...])
        return line.first == UInt8(ascii: "[") ? try? section(line, 0) : nil
    }

    /// Whether a line sets the default profile. It does so only above all sections.
    func setsDefault(_ line: String) -> Bool {
        let line = ConfigLine(number: 1, text: trimmed(line.utf8[...]))
        return line.name == "default" && line.value != nil
    }

    /// Whether a line is a comment or empty.
    func isRemark(_ line: String) -> Bool { trimmed(line.utf8[...]).first.map { $0 == UInt8(ascii: "#") } ?? true }

    private func section(_ line: Substring.UTF8View, _ number: Int) throws(ConfigError) -> String {
        guard let end = line.firstIndex(of: UInt8(ascii: "]")) else {
            throw ConfigError(path, number, "the profile's name has no closing ]")
        }
        let rest = trimmed(line[line.index(after: end)...])
        guard rest.isEmpty || rest.first == UInt8(ascii: "#") else {
            throw ConfigError(path, number, "a profile's name must be on a line of its own")
        }
        let name = trimmed(line[line.index(after: line.startIndex)..<end])
        guard !name.isEmpty else { throw ConfigError(path, number, "the profile has no name") }
        return String(decoding: name, as: UTF8.self)
    }

    private func read(_ line: ConfigLine, into profile: inout Profile) throws(ConfigError) {
        let (key, value, number) = (line.name, line.value, line.number)
        if key == "url" {
            guard profile.baseURL == nil else { throw ConfigError(path, number, "the profile has a url already") }
            let url = try base(value ?? "", number)
            profile.baseURL = url
            profile.baseLine = number
            do { profile.origins.insert(try Origin(ofURL: url), at: 0) } catch {
                throw ConfigError(path, number, "url can't be used: \(error.problem)")
            }
            return
        }
        if key == "origins" {
            profile.origins += try origins(value ?? "", number)
            return
        }
        guard let flag = Self.flags.first(where: { $0.long == key }) else { throw unknown(key, number) }
        guard flag.value != nil else {
            guard value == nil || value == "true" else {
                throw ConfigError(path, number, "\(key) takes no value: write it alone, or leave it out")
            }
            profile.flags.append(ProfileFlag(flag.name, "", line: number))
            return
        }
        guard let value, !value.isEmpty || flag.mayBeEmpty else {
            throw ConfigError(path, number, "\(key) needs a value: \(key) = \(flag.value?.placeholder ?? "")")
        }
        profile.flags.append(ProfileFlag(flag.name, value, line: number))
    }

    private func base(_ text: String, _ number: Int) throws(ConfigError) -> String {
        let lowercased = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lowercased.hasPrefix),
            let first = text.utf8.dropFirst(scheme.utf8.count).first, first != UInt8(ascii: "/"), first != UInt8(ascii: "?")
        else { throw ConfigError(path, number, "url must begin with https:// or http:// and a host") }
        let authority = text.utf8.dropFirst(scheme.utf8.count).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw ConfigError(
                path, number, "url must not have a name or a password before an @; write user = env:VARIABLE, or file:PATH")
        }
        guard !text.utf8.contains(UInt8(ascii: "#")) else { throw ConfigError(path, number, "url must not have a fragment (#)") }
        return text
    }

    private func origins(_ text: String, _ number: Int) throws(ConfigError) -> [Origin] {
        var origins: [Origin] = []
        for word in text.utf8.split(whereSeparator: \.isBlankOrLineBreak) {
            do { origins.append(try Origin(String(decoding: word, as: UTF8.self))) } catch {
                throw ConfigError(
                    path, number, "origins takes only https://HOST and https://HOST:PORT: \(error.problem)")
            }
        }
        guard !origins.isEmpty else {
            throw ConfigError(path, number, "origins needs a value: origins = https://HOST https://HOST:PORT")
        }
        return origins
    }

    private func unknown(_ key: String, _ number: Int) -> ConfigError {
        // Text that isn't a name may be part of a secret.
        guard key.utf8.count <= 64, !key.utf8.contains(UInt8(ascii: " ")) else {
            return ConfigError(path, number, "write a line as NAME = VALUE, with the long name of an option")
        }
        var bare = key[...]
        while bare.hasPrefix("-") { bare.removeFirst() }
        if bare != key, bare == "url" || bare == "origins" || Self.flags.contains(where: { $0.long == bare }) {
            return ConfigError(path, number, "write \(bare), without dashes")
        }
        let hint = Suggestions.hint(for: String(bare), among: ["url", "origins"] + Self.flags.map(\.long))
        return ConfigError(
            path, number, "unknown option \"\(TerminalText.safe(key))\"\(hint.isEmpty ? "; see nevod-host --help" : hint)")
    }

    private static let flags = Flag.all.filter(\.isInProfiles)

    private func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View { ConfigLine.trimmed(text) }
}

/// Reports a config file that can't be used.
struct ConfigError: Error, Equatable, CustomStringConvertible {
    let path: String
    /// The line's number from 1; nil for the file as a whole.
    let line: Int?
    let problem: String

    init(_ path: String, _ line: Int?, _ problem: String) {
        self.path = path
        self.line = line
        self.problem = problem
    }

    var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(problem)" }
}
